;; weft for Guix, from the tarball of `make dist`, with two small libraries that Guix lacks:
;; guix build -f jobs/packages/guix.scm
(use-modules (gnu packages compression)
             (gnu packages digest)
             (gnu packages linux)
             (gnu packages maths)
             (gnu packages mpi)
             (gnu packages perl)
             (gnu packages pkg-config)
             (gnu packages python)
             (gnu packages python-xyz)
             (gnu packages textutils)
             (gnu packages web)
             (guix build-system copy)
             (guix build-system gnu)
             (guix download)
             (guix gexp)
             ((guix licenses) #:prefix license:)
             (guix packages)
             (guix utils))

(define %pool "https://deb.debian.org/debian/pool/main/")

(define libcsv
  (package
    (name "libcsv")
    (version "3.0.3")
    (source
     (origin
       (method url-fetch)
       (uri (string-append %pool "libc/libcsv/libcsv_" version "+dfsg.orig.tar.gz"))
       (sha256
        (base32 "1vrslyics0laa4f2pd39b9n5pjivhfqkxmms0dvbx910lyndzz86"))))
    (build-system gnu-build-system)
    (home-page "https://sourceforge.net/projects/libcsv/")
    (synopsis "Reader and writer of CSV")
    (description "libcsv is a small library that reads and writes comma-separated
values.")
    (license license:lgpl2.1+)))

(define random123
  (package
    (name "random123")
    (version "1.14.0")
    (source
     (origin
       (method url-fetch)
       (uri (string-append %pool "libr/librandom123/librandom123_" version
                           "+dfsg.orig.tar.xz"))
       (sha256
        (base32 "11wy20mqw3a4d1vsk2xdxbxy315bn119pzr9aprh68vkwwfvzn8f"))))
    (build-system copy-build-system)
    (arguments
     (list #:install-plan #~'(("include/Random123" "include/"))))
    (home-page "https://github.com/DEShawResearch/random123")
    (synopsis "Counter-based random numbers")
    (description "Random123 is a set of header files of random number generators whose
numbers are functions of a counter and a key, in any order and on any processor.")
    (license license:bsd-3)))

;; Guix's HDF5 has no file for pkg-config.
(define describe-hdf5
  #~(lambda* (#:key inputs #:allow-other-keys)
      (let ((hdf5 (dirname (dirname (search-input-file inputs "include/hdf5.h")))))
        (call-with-output-file "hdf5.pc"
          (lambda (port)
            (format port "Name: hdf5\nDescription: HDF5\nVersion: 1.10\n\
Cflags: -I~a/include\nLibs: -L~a/lib -lhdf5\n" hdf5 hdf5)))
        (setenv "PKG_CONFIG_PATH"
                (string-append (getcwd) ":" (getenv "PKG_CONFIG_PATH"))))))

(package
  (name "weft")
  (version "0.1.0")
  (source
   (local-file "../../build/weft-0.1.0.tar.gz"))
  (build-system gnu-build-system)
  (arguments
   (list #:tests? #f                    ;`make check` takes twenty minutes
         #:make-flags
         #~(list (string-append "CC=" #$(cc-for-target))
                 (string-append "PREFIX=" #$output))
         #:phases
         #~(modify-phases %standard-phases
             (replace 'configure #$describe-hdf5))))
  (native-inputs
   (list perl pkg-config))
  (inputs
   (list hdf5-parallel-openmpi libcsv libinih libyajl openblas openmpi random123
         scalapack utf8proc xxhash zlib))
  (propagated-inputs
   (list python python-h5py python-matplotlib))
  (home-page "https://example.org/weft")
  (synopsis "Tuning of learning by weight-sharing, on many processes")
  (description "weft tunes learning by weight-sharing: feature maps and federated
learning, many configurations on one set of weights, on many processes of MPI.")
  (license license:bsd-3))
