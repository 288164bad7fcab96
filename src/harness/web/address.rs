//! Which addresses a fetch may connect to (spec T144, T145).

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// Addresses that begin with the same bits, such as `10.0.0.0/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRange {
    first: IpAddr,
    bits: u8,
}

impl AddressRange {
    /// The addresses that have their first `bits` from this one; `None` where an address has not so
    /// many.
    pub const fn new(first: IpAddr, bits: u8) -> Option<Self> {
        let most = match first {
            IpAddr::V4(_) => 32,
            IpAddr::V6(_) => 128,
        };
        match bits <= most {
            true => Some(Self { first, bits }),
            false => None,
        }
    }

    /// Whether an address is among them. One of the other family never is.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.first, address) {
            (IpAddr::V4(first), IpAddr::V4(address)) => agree(
                32,
                self.bits,
                first.to_bits().into(),
                address.to_bits().into(),
            ),
            (IpAddr::V6(first), IpAddr::V6(address)) => {
                agree(128, self.bits, first.to_bits(), address.to_bits())
            }
            _ => false,
        }
    }
}

fn agree(width: u8, bits: u8, first: u128, address: u128) -> bool {
    let differing = first ^ address;
    differing.checked_shr(u32::from(width - bits)).unwrap_or(0) == 0
}

impl FromStr for AddressRange {
    type Err = NoAddressRange;

    fn from_str(text: &str) -> Result<Self, NoAddressRange> {
        let (first, bits) = text.split_once('/').ok_or(NoAddressRange)?;
        let first = first.parse().map_err(|_| NoAddressRange)?;
        let bits = bits.parse().map_err(|_| NoAddressRange)?;
        Self::new(first, bits).ok_or(NoAddressRange)
    }
}

impl fmt::Display for AddressRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.first, self.bits)
    }
}

/// A text that is no address with a number of bits behind a slash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoAddressRange;

impl fmt::Display for NoAddressRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a range of addresses, such as 10.0.0.0/8")
    }
}

impl std::error::Error for NoAddressRange {}

/// Whether an address is one that not everybody reaches alike, or that stands for another
/// (spec T145).
pub(super) fn is_blocked(address: IpAddr) -> bool {
    BLOCKED.iter().any(|range| range.contains(address))
}

/// The IPv4 address that an IPv6 address has within, where it is mapped or compatible; `::` and
/// `::1` stand for themselves.
pub(super) fn embedded(address: IpAddr) -> Option<Ipv4Addr> {
    match address {
        IpAddr::V6(address) if address.to_bits() > 1 => address.to_ipv4(),
        _ => None,
    }
}

const BLOCKED: &[AddressRange] = &[
    v4([0, 0, 0, 0], 8),
    v4([10, 0, 0, 0], 8),
    v4([100, 64, 0, 0], 10),
    v4([127, 0, 0, 0], 8),
    v4([169, 254, 0, 0], 16),
    v4([172, 16, 0, 0], 12),
    v4([192, 0, 0, 0], 24),
    v4([192, 0, 2, 0], 24),
    v4([192, 88, 99, 0], 24),
    v4([192, 168, 0, 0], 16),
    v4([198, 18, 0, 0], 15),
    v4([198, 51, 100, 0], 24),
    v4([203, 0, 113, 0], 24),
    v4([224, 0, 0, 0], 4),
    v4([240, 0, 0, 0], 4),
    v4([255, 255, 255, 255], 32),
    v6([0, 0, 0, 0, 0, 0, 0, 0], 128),
    v6([0, 0, 0, 0, 0, 0, 0, 0x1], 128),
    v6([0, 0, 0, 0, 0, 0, 0, 0], 96),
    v6([0, 0, 0, 0, 0, 0xffff, 0, 0], 96),
    v6([0x64, 0xff9b, 0, 0, 0, 0, 0, 0], 96),
    v6([0x64, 0xff9b, 0x1, 0, 0, 0, 0, 0], 48),
    v6([0x100, 0, 0, 0, 0, 0, 0, 0], 64),
    v6([0x2001, 0xdb8, 0, 0, 0, 0, 0, 0], 32),
    v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16),
    v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20),
    v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7),
    v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10),
    v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10),
    v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8),
];

const fn v4([a, b, c, d]: [u8; 4], bits: u8) -> AddressRange {
    AddressRange {
        first: IpAddr::V4(Ipv4Addr::new(a, b, c, d)),
        bits,
    }
}

const fn v6([a, b, c, d, e, f, g, h]: [u16; 8], bits: u8) -> AddressRange {
    AddressRange {
        first: IpAddr::V6(Ipv6Addr::new(a, b, c, d, e, f, g, h)),
        bits,
    }
}
