"""Settings: one model over the environment, read once. README documents each in one table."""

import os
from collections.abc import Mapping
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, SecretStr, ValidationError

from whenthen.errors import NotConfigured

type Network = IPv4Network | IPv6Network


def _read_networks(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return tuple(ip_network(part.strip()) for part in value.split(",") if part.strip())


class Settings(BaseModel):
    """All settings. Each field's alias is the name of its environment variable."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    alopex_url: str = Field(
        "", alias="ALOPEX_URL", description="URL of the Alopex server; empty for the engine in this process."
    )
    alopex_api_key: SecretStr = Field(SecretStr(""), alias="ALOPEX_API_KEY", description="The server's key.")
    alopex_api_key_secret: str = Field(
        "",
        alias="ALOPEX_API_KEY_SECRET",
        description="Name of a Secrets Manager secret that holds the key instead.",
    )
    alopex_ca_file: Path | None = Field(
        None,
        alias="WHENTHEN_ALOPEX_CA_FILE",
        description="PEM file of a private authority for the server's certificate.",
    )
    alopex_history_url: str = Field(
        "",
        alias="ALOPEX_HISTORY_URL",
        description="URL of the Alopex server that keeps the history; empty for the same one.",
    )
    copy_dir: str = Field(
        "/srv/alopex/copy",
        alias="WHENTHEN_COPY_DIR",
        description="Folder on the database host that the server may copy through (`copy_allowed_dirs`).",
        pattern=r"^/[^'\x00]*[^'/\x00]$",
    )
    host_report: str = Field(
        "",
        alias="WHENTHEN_HOST_REPORT",
        description="Path or URL of the database host's report; empty for `host.json` at `ALOPEX_URL`.",
    )
    home: Path = Field(Path(".whenthen"), alias="WHENTHEN_HOME", description="Folder of the local run.")
    public_url: str = Field(
        "",
        alias="WHENTHEN_PUBLIC_URL",
        description="URL at which browsers reach whenthen, for links, OAuth, buttons and Secure cookies, and the first "
        "run then asks for an API key; empty for that of each request.",
        pattern=r"^https?://[^\s?#]+$",
    )
    kms_key_id: str = Field(
        "",
        alias="WHENTHEN_KMS_KEY_ID",
        description="KMS key that encrypts secrets; empty for the key file.",
    )
    secrets_key_file: Path | None = Field(
        None,
        alias="WHENTHEN_SECRETS_KEY_FILE",
        description="File with the key that encrypts secrets; empty for `secrets.key` in `WHENTHEN_HOME`.",
    )
    host: str = Field("127.0.0.1", alias="WHENTHEN_HOST", description="Address that the local run listens on.")
    port: int = Field(
        8000, alias="WHENTHEN_PORT", ge=0, le=65535, description="Port of the local run; 0 for any free one."
    )
    allowed_networks: Annotated[tuple[Network, ...], BeforeValidator(_read_networks)] = Field(
        (),
        alias="WHENTHEN_ALLOWED_NETWORKS",
        description="Comma-separated CIDRs that actions and checks may reach besides the public internet.",
    )
    wakeup_queue_url: str = Field("", alias="WHENTHEN_WAKEUP_QUEUE_URL", description="SQS queue that wakes the worker.")
    intake_queue_url: str = Field(
        "",
        alias="WHENTHEN_INTAKE_QUEUE_URL",
        description="SQS queue for webhooks that come while the database is down.",
    )
    check_queue_url: str = Field(
        "", alias="WHENTHEN_CHECK_QUEUE_URL", description="SQS queue of the checks that the tick passes on."
    )
    max_body_bytes: int = Field(
        262144,
        alias="WHENTHEN_MAX_BODY_BYTES",
        ge=1,
        le=262144,
        description="Largest body of a webhook, bytes.",
    )
    intake_timeout_seconds: float = Field(
        1.5,
        alias="WHENTHEN_INTAKE_TIMEOUT_SECONDS",
        gt=0,
        le=20,
        description="How long a webhook tries the database before it goes to the intake queue.",
    )
    action_timeout_seconds: float = Field(
        10.0,
        alias="WHENTHEN_ACTION_TIMEOUT_SECONDS",
        gt=0,
        le=30,
        description="Longest that one action's request may take.",
    )
    check_timeout_seconds: float = Field(
        10.0,
        alias="WHENTHEN_CHECK_TIMEOUT_SECONDS",
        gt=0,
        le=15,
        description="Longest that one request of a check may take.",
    )
    weather_url: str = Field(
        "https://api.open-meteo.com",
        alias="WHENTHEN_WEATHER_URL",
        description="Base URL of the weather service, an Open-Meteo server.",
        pattern=r"^https?://[^\s]+$",
    )

    @property
    def secrets_key_path(self) -> Path:
        """Where the key file is."""
        return self.secrets_key_file or self.home / "secrets.key"

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> "Settings":
        """Return the settings in `environment`; an empty variable counts as absent.

        Raises
        ------
        NotConfigured
            A variable has a bad value; the message names it.
        """
        try:
            return cls.model_validate({name: value for name, value in environment.items() if value != ""})
        except ValidationError as error:
            first = error.errors()[0]
            raise NotConfigured(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error


@lru_cache(maxsize=1)
def settings() -> Settings:
    """Return the settings of this process's environment."""
    return Settings.read(os.environ)
