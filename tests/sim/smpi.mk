# Settings of make VARIANT=smpi: the whole program on ranks that SimGrid simulates. A program that
# links HDF5 or ScaLAPACK, which bring Open MPI with them, would crash, and there are no samples.
PKGS := openblas inih libutf8proc libxxhash yajl zlib
TOOLS := smpicc smpirun pkg-config
MPICC := smpicc
OPT_smpi := -O2 -fPIC
NOT_WARN := -Wredundant-decls # of smpicc's own headers
LEFT_OUT := par/grid store/h5 store/map store/rows store/seal data/data task/fed/turns pack/% reader/% report/% cli/%
