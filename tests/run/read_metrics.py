# SPDX-License-Identifier: Apache-2.0
"""Prometheus' own parser over standard input; JSON on standard output: [[name, type, help, [[sample, labels, value], …]], …]."""
import json
import sys

from prometheus_client.parser import text_string_to_metric_families

families = [[f.name, f.type, f.documentation, [[s.name, s.labels, s.value] for s in f.samples]] for f in text_string_to_metric_families(sys.stdin.read())]
json.dump(families, sys.stdout)
