"""AWS for tests: moto's server on loopback, with the template's queues, the secret of the database's key, a KMS key."""

import json
import secrets
from collections.abc import Mapping
from typing import Any

import boto3
from moto.server import ThreadedMotoServer

from tests.support.processes import free_port
from tests.support.template import Template, resources

REGION = "eu-central-1"
_ATTRIBUTES = ("MaximumMessageSize", "MessageRetentionPeriod", "VisibilityTimeout")


class Aws:
    """Queues as the template describes them, by logical id, one secret and one key.

    Attributes:
        url: the endpoint of every service.
        queues: URL by logical id.
        secret: the secret's name.
        kms, kms_key: a client of KMS, and the id of a key.
    """

    def __init__(self, template: Template, *, api_key: str) -> None:
        self._port = free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        self._server: ThreadedMotoServer | None = ThreadedMotoServer("127.0.0.1", self._port, verbose=False)
        self._server.start()
        # moto's state belongs to the process: names are this test's own.
        self._name = secrets.token_hex(4)
        self._sqs = self._client("sqs")
        self.queues: dict[str, str] = {}
        queues = resources(template, "AWS::SQS::Queue")
        for logical_id in sorted(queues, key=lambda name: "RedrivePolicy" in queues[name]):
            self.queues[logical_id] = self._make_queue(logical_id, queues[logical_id])
        self.secret = f"whenthen/{self._name}"
        manager = self._client("secretsmanager")
        manager.create_secret(Name=self.secret, SecretString=api_key)
        manager.close()
        self.kms = self._client("kms")
        self.kms_key: str = self.kms.create_key()["KeyMetadata"]["KeyId"]

    @property
    def environment(self) -> dict[str, str]:
        """What lets a function reach it."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ACCESS_KEY_ID": "testing",
            "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_SESSION_TOKEN": "testing",
        }

    def receive(self, queue: str) -> list[dict[str, Any]]:
        """Up to ten messages of the queue, which stay in it, hidden."""
        answer = self._sqs.receive_message(QueueUrl=self.queues[queue], MaxNumberOfMessages=10, AttributeNames=["All"])
        messages: list[dict[str, Any]] = answer.get("Messages", [])
        return messages

    def send(self, queue: str, body: str) -> None:
        """Put a message into the queue."""
        self._sqs.send_message(QueueUrl=self.queues[queue], MessageBody=body)

    def delete(self, queue: str, message: Mapping[str, Any]) -> None:
        """Delete a received message."""
        self._sqs.delete_message(QueueUrl=self.queues[queue], ReceiptHandle=message["ReceiptHandle"])

    def take(self, queue: str) -> list[str]:
        """Receive and delete everything that is visible; the bodies."""
        bodies = []
        while messages := self.receive(queue):
            for message in messages:
                bodies.append(message["Body"])
                self.delete(queue, message)
        return bodies

    def event(self, queue: str, messages: list[dict[str, Any]]) -> dict[str, Any]:
        """The event that Lambda makes of received messages."""
        return {
            "Records": [
                {
                    "messageId": message["MessageId"],
                    "receiptHandle": message["ReceiptHandle"],
                    "body": message["Body"],
                    "attributes": message["Attributes"],
                    "messageAttributes": {},
                    "md5OfBody": message["MD5OfBody"],
                    "eventSource": "aws:sqs",
                    "eventSourceARN": f"arn:aws:sqs:{REGION}:123456789012:{self.queues[queue].rpartition('/')[2]}",
                    "awsRegion": REGION,
                }
                for message in messages
            ]
        }

    def down(self) -> None:
        """Let nobody reach it any more. Queues are kept."""
        assert self._server is not None, "it is down already"
        self._server.stop()
        self._server = None

    def close(self) -> None:
        """Stop it."""
        self._sqs.close()
        self.kms.close()
        if self._server is not None:
            self._server.stop()

    def _client(self, service: str) -> Any:
        return boto3.client(
            service,
            endpoint_url=self.url,
            region_name=REGION,
            aws_access_key_id="testing",
            aws_secret_access_key="testing",
        )

    def _make_queue(self, logical_id: str, properties: dict[str, Any]) -> str:
        attributes = {name: str(properties[name]) for name in _ATTRIBUTES if name in properties}
        if redrive := properties.get("RedrivePolicy"):
            target = self.queues[redrive["deadLetterTargetArn"]["Fn::GetAtt"][0]]
            arn = f"arn:aws:sqs:{REGION}:123456789012:{target.rpartition('/')[2]}"
            attributes["RedrivePolicy"] = json.dumps(redrive | {"deadLetterTargetArn": arn})
        name = f"{logical_id}-{self._name}"
        url: str = self._sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
        return url
