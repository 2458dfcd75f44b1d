# Short names, no logic: each target calls a script or a CMake workflow.
export PATH := /usr/bin:/usr/sbin:$(PATH)

.PHONY: setup test test-k8s bench rules demo demo-up demo-down

setup:
	@scripts/setup

test: setup
	@cmake --workflow --preset check
	@tests/rules/rules.py ran build/dev/tests.xml

test-k8s: setup
	@tests/k8s/run

bench: setup
	@cmake --workflow --preset bench

rules:
	@tests/rules/rules.py table

demo: setup
	@scripts/demo

demo-up: setup
	@scripts/demo up

demo-down:
	@scripts/demo down
