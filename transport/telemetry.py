"""OpenTelemetry, if the environment asks for it in the standard way; otherwise nothing of it is even imported.

`OTEL_EXPORTER_OTLP_ENDPOINT` (or its variant for traces) or `OTEL_TRACES_EXPORTER` turns it on. What the SDK reads from
the environment by itself (endpoint, headers, sampler, batches, resource) is left to it. `spans` does the work.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from greenroom import __version__

if TYPE_CHECKING:
    from opentelemetry.sdk.trace.export import SpanExporter

    from greenroom.transport.spans import Telemetry

log = logging.getLogger(__name__)

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_PROTOCOLS = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")

NOT_INSTALLED = (
    "The environment asks for traces (OTEL_*), but the SDK for them is not installed. "
    "Run pip install 'greenroom[otel]', or unset it. Going on without."
)


def telemetry_from(environ: Mapping[str, str]) -> Telemetry | None:
    """What records spans, or None if nobody wants them or they cannot be had. Never a reason not to serve."""
    wanted = exporter_wanted(environ)
    if wanted is None:
        return None
    if wanted not in ("otlp", "console"):
        log.warning("OTEL_TRACES_EXPORTER is %r, but only otlp, console and none are known. Going on without.", wanted)
        return None
    protocol = next((environ[name] for name in _PROTOCOLS if environ.get(name)), "http/protobuf")
    if wanted == "otlp" and protocol != "http/protobuf":
        log.warning("The protocol for traces is %r, but only http/protobuf is known. Going on without.", protocol)
        return None
    try:
        return _telemetry(_exporter(wanted), environ)
    except ImportError:
        log.warning(NOT_INSTALLED)
        return None


def exporter_wanted(environ: Mapping[str, str]) -> str | None:
    if environ.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return None
    named = environ.get("OTEL_TRACES_EXPORTER", "").strip().lower()
    if named:
        return None if named == "none" else named
    return "otlp" if any(environ.get(name) for name in _ENDPOINTS) else None


def _exporter(wanted: str) -> SpanExporter:
    if wanted == "console":
        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        return ConsoleSpanExporter()
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

    return OTLPSpanExporter()


def _telemetry(exporter: SpanExporter, environ: Mapping[str, str]) -> Telemetry:
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    from greenroom.transport.spans import Telemetry

    named = "OTEL_SERVICE_NAME" in environ or "service.name=" in environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    facts = {"service.version": __version__, **({} if named else {"service.name": "greenroom"})}
    # Not at exit: that waits for a collector as long as it likes. `Telemetry.close` has a bound.
    provider = TracerProvider(resource=Resource.create(facts), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return Telemetry(provider)
