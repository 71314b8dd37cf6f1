#!/bin/bash
# A kill at the places where weft changes its files, the first and the last of each kind, and a
# disk that fails from there on. `make check-kills` takes every place of every kind of run.
# Prints TAP.
exec tests/kills --short
