# what is built in bench/
include bench/grammar.mk
