# SPDX-License-Identifier: BSD-3-Clause
# what is tested in tests/decoder/: wend show, dump and diff, on recordings made from scripts
check_PROGRAMS += tests/decoder/script
tests_decoder_script_SOURCES = tests/decoder/script.c
tests_decoder_script_LDADD = lib/libcore.a $(CORE_LIBS)

BATS_TESTS += tests/decoder/diff.bats tests/decoder/dump.bats tests/decoder/messages.bats \
	tests/decoder/show.bats tests/decoder/worlds.bats
EXTRA_DIST += tests/decoder/diff-edits.py tests/decoder/diff-random.py \
	tests/decoder/diff-definition.py tests/decoder/messages.py tests/decoder/golden.script \
	tests/decoder/golden.txt tests/decoder/golden.csv tests/decoder/golden.jsonl \
	tests/decoder/golden.dir/trace.tar.zst
