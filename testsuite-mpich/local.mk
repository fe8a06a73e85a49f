# SPDX-License-Identifier: BSD-3-Clause
# The round trip over MPICH's own test suite, whose source it fetches; script/test runs the sample.
#   make check-mpich [FOLDER=coll] [TEST=allred] [AGAIN=failed|all|none] [JOBS=n] [SLOW=factor]
EXTRA_DIST += \
	testsuite-mpich/KNOWN.md \
	testsuite-mpich/check.py \
	testsuite-mpich/run.bash \
	testsuite-mpich/sample
CHECK_MPICH = BUILD_DIR=$(abs_top_builddir) $(srcdir)/testsuite-mpich/run.bash \
	$(if $(JOBS),--jobs $(JOBS)) $(if $(SLOW),--slow $(SLOW)) $(if $(AGAIN),--again $(AGAIN))
.PHONY: check-mpich check-mpich-replay check-mpich-sample
check-mpich: all tests/support/yield.so
	$(AM_V_at)$(CHECK_MPICH) $(FOLDER:%=--folder '%') $(if $(TEST),--test '$(TEST)')
check-mpich-replay: all tests/support/yield.so
	$(AM_V_at)$(CHECK_MPICH) --replay $(FOLDER:%=--folder '%') $(if $(TEST),--test '$(TEST)')
check-mpich-sample: all tests/support/yield.so
	$(AM_V_at)$(CHECK_MPICH) --sample $(srcdir)/testsuite-mpich/sample
