"""The proxies of deploy/, run for real, with the very files that are handed out.

Only what says CHANGE there is changed: the addresses, and the certificate.
"""

from __future__ import annotations

import os
import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import trio
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from tests.needs import program
from tests.transport.process import ROOT, free_port

DEPLOY = ROOT / "deploy"


def make_certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate for localhost and its key, signed by itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    chain, private = folder / "fullchain.pem", folder / "privkey.pem"
    chain.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return chain, private


def replaced(text: str, changes: dict[str, str]) -> str:
    for old, new in changes.items():
        assert old in text, f"{old!r} is not in the file any more"
        text = text.replace(old, new)
    return text


def nginx_files(folder: Path, upstream: str, port: int) -> Path:
    """A whole nginx configuration around the file that is handed out."""
    chain, private = make_certificate(folder)
    site = replaced(
        (DEPLOY / "nginx.conf").read_text(),
        {
            "server 127.0.0.1:8000;": f"server {upstream};",
            "listen 443 ssl http2;": f"listen 127.0.0.1:{port} ssl http2;",
            "greenroom.example.com": "localhost",
            "/etc/ssl/greenroom/fullchain.pem": str(chain),
            "/etc/ssl/greenroom/privkey.pem": str(private),
        },
    )
    (folder / "greenroom.conf").write_text(site)
    temporary = "\n".join(
        f"    {kind}_temp_path {folder}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    whole = folder / "nginx.conf"
    # Where the tests run as root, so do its workers: the temporary folder is root's alone.
    user = "user root;" if os.geteuid() == 0 else ""
    whole.write_text(
        f"{user}\ndaemon off;\npid {folder}/nginx.pid;\nerror_log {folder}/error.log;\nworker_processes 1;\n"
        "events { worker_connections 512; }\n"
        f"http {{\n    access_log off;\n    gzip on;\n    gzip_types *;\n{temporary}\n"
        f"    include {folder}/greenroom.conf;\n}}\n"
    )
    return whole


@asynccontextmanager
async def nginx(folder: Path, upstream: str) -> AsyncIterator[httpx.AsyncClient]:
    """Over TLS and HTTP/2, with compression switched on around it, as in a distribution's own configuration."""
    port = free_port()
    command = [program("nginx"), "-p", str(folder), "-e", str(folder / "error.log")]
    command += ["-c", str(nginx_files(folder, upstream, port))]
    trust = ssl.create_default_context(cafile=str(folder / "fullchain.pem"))
    async with (
        _running(command, folder, {}),
        httpx.AsyncClient(base_url=f"https://localhost:{port}", verify=trust, http2=True, timeout=20) as client,
    ):
        await _answers(client, folder)
        yield client


@asynccontextmanager
async def caddy(folder: Path, upstream: str) -> AsyncIterator[httpx.AsyncClient]:
    """Over plain HTTP: a certificate for a name of the world cannot be had on a closed network."""
    port = free_port()
    (folder / "Caddyfile").write_text("{\n\tadmin off\n\tauto_https off\n}\n" + (DEPLOY / "Caddyfile").read_text())
    command = [program("caddy"), "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]
    names = {"GREENROOM_SITE": f"http://localhost:{port}", "GREENROOM_UPSTREAM": upstream}
    homes = {"HOME": str(folder), "XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    async with (
        _running(command, folder, {**names, **homes}),
        httpx.AsyncClient(base_url=f"http://localhost:{port}", timeout=20) as client,
    ):
        await _answers(client, folder)
        yield client


@asynccontextmanager
async def _running(command: list[str], folder: Path, environment: dict[str, str]) -> AsyncIterator[None]:
    with (folder / "proxy.log").open("wb") as out:
        process = subprocess.Popen(command, env={**os.environ, **environment}, stdout=out, stderr=out)  # noqa: ASYNC220
    try:
        yield
    finally:
        process.terminate()
        with trio.move_on_after(10, shield=True):
            await trio.to_thread.run_sync(process.wait, abandon_on_cancel=True)
        process.kill()
        process.wait()


async def _answers(client: httpx.AsyncClient, folder: Path) -> None:
    with trio.move_on_after(20):
        while True:
            try:
                if (await client.get("/probes/readyz")).status_code == 200:
                    return
            except httpx.TransportError:
                pass
            await trio.sleep(0.05)
    logs = [path.read_text() for path in (folder / "proxy.log", folder / "error.log") if path.exists()]
    raise AssertionError("\n".join(["the proxy does not answer", *logs]))
