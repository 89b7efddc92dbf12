"""Which addresses the guarded client may connect to.

The tables follow the IANA special-purpose address registries (RFC 6890) and are written out, because
`ipaddress.is_global` differs between Python patch releases and counts multicast as global.
"""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

type Address = IPv4Address | IPv6Address
type Network = IPv4Network | IPv6Network

_REFUSED_IPV4 = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network, RFC 791; Linux connects 0.0.0.0 to itself
        "10.0.0.0/8",  # private, RFC 1918
        "100.64.0.0/10",  # carrier-grade NAT, RFC 6598; Alibaba's metadata service
        "127.0.0.0/8",  # loopback, RFC 1122
        "168.63.129.16/32",  # Azure's host agent, on an address that looks public
        "169.254.0.0/16",  # link-local, RFC 3927; metadata services
        "172.16.0.0/12",  # private, RFC 1918
        "192.0.0.0/24",  # protocol assignments, RFC 6890; Oracle's metadata service
        "192.0.2.0/24",  # documentation, RFC 5737
        "192.88.99.0/24",  # 6to4 relays, RFC 7526
        "192.168.0.0/16",  # private, RFC 1918
        "198.18.0.0/15",  # benchmarks, RFC 2544
        "198.51.100.0/24",  # documentation, RFC 5737
        "203.0.113.0/24",  # documentation, RFC 5737
        "224.0.0.0/4",  # multicast, RFC 5771
        "240.0.0.0/4",  # reserved, RFC 1112, and broadcast, RFC 919
    )
)

# All unicast that IANA has ever given out. What lies outside is refused without a row of its own: loopback,
# unspecified, IPv4-compatible ::/96, local-use NAT64 64:ff9b:1::/48, discard 100::/64, segment routing
# 5f00::/16, unique local fc00::/7 (with the metadata services of AWS and Google), link-local, multicast.
_GLOBAL_UNICAST = IPv6Network("2000::/3")

_REFUSED_IPV6 = tuple(
    IPv6Network(network)
    for network in (
        "2001::/23",  # protocol assignments, RFC 2928: Teredo, benchmarks, ORCHID
        "2001:db8::/32",  # documentation, RFC 3849
        "2002::/16",  # 6to4, RFC 7526: an IPv4 address inside, and no public use left
        "3fff::/20",  # documentation, RFC 9637
    )
)

# RFC 6052 2.1. The one translation prefix in public use (IPv6-only subnets reach IPv4 through it).
_NAT64 = IPv6Network("64:ff9b::/96")


def is_allowed(address: Address, allowed_networks: Sequence[Network]) -> bool:
    """Say if a connection to `address` may be opened.

    IPv4-mapped addresses (RFC 4291 2.5.5.2) are judged as the IPv4 address that the system connects to, so
    an allowed IPv6 network never opens IPv4. NAT64 addresses are judged by the IPv4 address inside.
    6to4 and Teredo are refused whatever they embed.

    Parameters
    ----------
    address:
        The very address to be connected to.
    allowed_networks:
        Networks that the operator opened besides the public internet.
    """
    if isinstance(address, IPv6Address):
        if address.scope_id is not None:
            return False
        if address.ipv4_mapped is not None:
            return is_allowed(address.ipv4_mapped, allowed_networks)
    # `in` is false, not an error, for a network of the other version.
    if any(address in network for network in allowed_networks):
        return True
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _REFUSED_IPV4)
    if address in _NAT64:
        return is_allowed(IPv4Address(int(address) & 0xFFFF_FFFF), allowed_networks)
    return address in _GLOBAL_UNICAST and not any(address in network for network in _REFUSED_IPV6)
