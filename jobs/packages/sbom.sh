#!/bin/sh
# Prints weft's bill of materials (CycloneDX 1.5): sbom.sh VERSION PACKAGE[=VERSION] ...
# A package is the name of its file of pkg-config; it is listed by the name that its authors gave it.
version=$1 comma=
shift
cat <<END
{
 "bomFormat": "CycloneDX",
 "specVersion": "1.5",
 "version": 1,
 "metadata": {"component": {"type": "application", "name": "weft", "version": "$version",
  "licenses": [{"license": {"id": "BSD-3-Clause"}}]}},
 "components": [
END
for package; do
    case $package in *=?*) found=", \"version\": \"${package#*=}\"" ;; *) found= ;; esac
    name=${package%%=*}
    case $name in
    openmpi) licence=BSD-3-Clause-Open-MPI ;;
    mpich) licence=mpich2 ;;
    scalapack* | openblas | hdf5* | inih | random123) licence=BSD-3-Clause ;;
    libutf8proc) licence=MIT ;;
    libxxhash) licence=BSD-2-Clause ;;
    libcsv) licence=LGPL-2.1-or-later ;;
    yajl) licence=ISC ;;
    zlib) licence=Zlib ;;
    *) echo "sbom.sh: the licence of $name is not listed here" >&2 && exit 1 ;;
    esac
    case $name in hdf5* | scalapack*) name=${name%%-*} ;; libutf8proc | libxxhash) name=${name#lib} ;; esac
    printf '%s  {"type": "library", "name": "%s"%s, "licenses": [{"license": {"id": "%s"}}]}' \
        "$comma" "$name" "$found" $licence
    comma=',
'
done
printf '\n ]\n}\n'
