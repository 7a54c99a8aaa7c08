PRESET ?= dev
B      := build/$(PRESET)

all: $(B)/build.ninja
	cmake --build $(B)

$(B)/build.ninja:
	cmake --preset $(PRESET)

test: all
	cmake --build $(B) --target unit
	ctest --test-dir $(B) --output-on-failure

.PHONY: all test
