from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whenthen.net import is_allowed

PUBLIC = [
    "1.1.1.1",
    "8.8.8.8",
    "9.255.255.255",
    "11.0.0.0",
    "100.63.255.255",
    "100.128.0.0",
    "126.255.255.255",
    "128.0.0.1",
    "169.253.255.255",
    "172.15.255.255",
    "172.32.0.0",
    "192.0.1.0",
    "192.167.255.255",
    "198.17.255.255",
    "198.20.0.0",
    "223.255.255.255",
    "2606:4700:4700::1111",
    "2a00:1450:4001:80b::200e",
    "2001:200::1",
    "::ffff:8.8.8.8",
    "64:ff9b::8.8.8.8",
]
REFUSED = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.1",
    "100.100.100.200",
    "100.127.255.255",
    "127.0.0.1",
    "127.1.2.3",
    "168.63.129.16",
    "169.254.169.254",
    "169.254.170.2",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::8.8.8.8",
    "::ffff:0.0.0.0",
    "::ffff:10.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:169.254.169.254",
    "64:ff9b::10.0.0.1",
    "64:ff9b::127.0.0.1",
    "64:ff9b::169.254.169.254",
    "64:ff9b:1::8.8.8.8",
    "64:ff9b:1::10.0.0.1",
    "100::1",
    "2001::1",
    "2001:0:808:808:8000:0:f5ff:fffe",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "2001:db8::1",
    "2002:7f00:1::",
    "2002:a9fe:a9fe::1",
    "2002:808:808::1",
    "3fff::1",
    "4000::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fd20:ce::254",
    "fe80::1",
    "fe80::1%eth0",
    "2606:4700:4700::1111%eth0",
    "fec0::1",
    "ff02::1",
]


@pytest.mark.parametrize("address", PUBLIC)
def test_public_address_is_allowed(address: str) -> None:
    assert is_allowed(ip_address(address), ())


@pytest.mark.parametrize("address", REFUSED)
def test_g02_g06_address_that_is_not_public_is_refused(address: str) -> None:
    assert not is_allowed(ip_address(address), ())


@given(st.ip_addresses())
def test_nothing_that_python_calls_private_is_allowed(address) -> None:
    assert address.is_global or not is_allowed(address, ())


@given(st.ip_addresses(v=4))
def test_mapped_and_translated_forms_are_judged_as_the_ipv4_inside(address) -> None:
    for prefix in (0xFFFF << 32, 0x64FF9B << 96):
        assert is_allowed(IPv6Address(prefix | int(address)), ()) == is_allowed(address, ())


@pytest.mark.parametrize(
    ("address", "network", "allowed"),
    [
        ("10.1.2.3", "10.1.0.0/16", True),
        ("10.2.0.1", "10.1.0.0/16", False),
        ("::ffff:10.1.2.3", "10.1.0.0/16", True),
        ("::ffff:10.2.0.1", "10.1.0.0/16", False),
        ("fd00::5", "fd00::/64", True),
        ("fd00:1::5", "fd00::/64", False),
        ("fe80::1%eth0", "fe80::/10", False),
        ("127.0.0.1", "::/0", False),
        ("::ffff:127.0.0.1", "::/0", False),
        ("::1", "0.0.0.0/0", False),
        ("169.254.169.254", "10.0.0.0/8", False),
    ],
)
def test_allowed_networks_open_their_own_addresses_only(address: str, network: str, allowed: bool) -> None:
    networks = [IPv6Network(network) if ":" in network else IPv4Network(network)]
    assert is_allowed(ip_address(address), networks) is allowed
