# SPDX-License-Identifier: BSD-3-Clause
# Perfetto's own viewer opens what wend export --perfetto writes; asked for, because it fetches the
# viewer from the npm registry, once, and needs a browser. Pictures are left in tests/viewer.
EXTRA_DIST += tests/viewer/run.bash tests/viewer/viewer.html tests/viewer/viewer.py
.PHONY: check-viewer
check-viewer: all
	$(AM_V_at)$(MAKE) check TESTS=
	$(AM_V_at)BUILD_DIR=$(abs_top_builddir) $(srcdir)/tests/viewer/run.bash
