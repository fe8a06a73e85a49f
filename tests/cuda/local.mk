# SPDX-License-Identifier: BSD-3-Clause
# A stand-in for CUDA, since the tests run on machines without it, and programs that use it. Like
# CUDA it has a shared runtime and a static one.
CUDA_FILES = tests/cuda/buffers.c tests/cuda/buffers-host.c tests/cuda/cuda_runtime.h \
	tests/cuda/driver.c tests/cuda/driver-api.c tests/cuda/next.c tests/cuda/pointers.c \
	tests/cuda/runtime.c tests/cuda/without.c
EXTRA_DIST += $(CUDA_FILES)
cuda_cflags = $(EXAMPLE_CFLAGS) -std=gnu11 -I$(srcdir)/tests/cuda
cuda_library = $(AM_V_CC)$(MKDIR_P) tests/cuda && \
	$(CC) -std=gnu11 -Wall -Wextra -O1 -g -fPIC -shared -Wl,-soname,$(@F) -o $@
cuda_program = $(AM_V_CC)$(MKDIR_P) tests/cuda && $(MPICC) $(cuda_cflags) -o $@

tests/cuda/libcuda.so.1: tests/cuda/driver.c
	$(cuda_library) $< -lpthread
tests/cuda/libcudart.so.11 tests/cuda/libcudart.so.12: tests/cuda/runtime.c \
		tests/cuda/cuda_runtime.h
	$(cuda_library) -I$(srcdir)/tests/cuda $< -ldl -lpthread
tests/cuda/libcudart.so: tests/cuda/libcudart.so.12
	$(AM_V_GEN)ln -sf libcudart.so.12 $@
tests/cuda/libnext.so: tests/cuda/next.c
	$(cuda_library) $< -ldl
tests/cuda/buffers: tests/cuda/buffers.c tests/cuda/libcudart.so
	$(cuda_program) $< -Ltests/cuda -lcudart -pthread
tests/cuda/buffers-ptsz: tests/cuda/buffers.c tests/cuda/libcudart.so
	$(cuda_program) -DCUDA_API_PER_THREAD_DEFAULT_STREAM $< -Ltests/cuda -lcudart -pthread
tests/cuda/buffers-static: tests/cuda/buffers.c tests/cuda/runtime.c tests/cuda/cuda_runtime.h
	$(cuda_program) $< $(srcdir)/tests/cuda/runtime.c -ldl -pthread
tests/cuda/buffers-dlsym: tests/cuda/buffers.c tests/cuda/cuda_runtime.h
	$(cuda_program) -DBY_DLSYM $< -ldl -pthread
tests/cuda/libbuffers.so: tests/cuda/buffers.c tests/cuda/libcudart.so
	$(cuda_program) -DAS_LIBRARY -fPIC -shared $< -Ltests/cuda -lcudart -pthread
tests/cuda/buffers-host: tests/cuda/buffers-host.c
	$(cuda_program) $< -ldl
tests/cuda/pointers: tests/cuda/pointers.c tests/cuda/libcudart.so
	$(cuda_program) -fPIE -pie $< -Ltests/cuda -lcudart
tests/cuda/pointers-fixed: tests/cuda/pointers.c tests/cuda/libcudart.so
	$(cuda_program) -fno-pic -no-pie $< -Ltests/cuda -lcudart
tests/cuda/without: tests/cuda/without.c tests/cuda/libnext.so
	$(cuda_program) $< -Ltests/cuda -lnext -ldl
tests/cuda/driver-api: tests/cuda/driver-api.c tests/cuda/libcuda.so.1
	$(cuda_program) $< tests/cuda/libcuda.so.1 -ldl

CUDA_BINARIES = tests/cuda/buffers tests/cuda/buffers-ptsz tests/cuda/buffers-static \
	tests/cuda/buffers-dlsym tests/cuda/buffers-host tests/cuda/libbuffers.so \
	tests/cuda/pointers tests/cuda/pointers-fixed tests/cuda/without tests/cuda/driver-api \
	tests/cuda/libcuda.so.1 tests/cuda/libcudart.so.11 tests/cuda/libcudart.so.12 \
	tests/cuda/libcudart.so tests/cuda/libnext.so
check_DATA += $(CUDA_BINARIES)
CLEANFILES += $(CUDA_BINARIES)
