//! Column values as playbook values. Types without a JSON counterpart become text that PostgreSQL would read back.

use std::error::Error;
use std::net::{Ipv4Addr, Ipv6Addr};

use noetl_types::{Map, Value};
use tokio_postgres::types::{FromSql, Kind, Type};

use super::{numeric, time};

pub type Fault = Box<dyn Error + Sync + Send>;

/// A column of a row.
pub struct Cell(pub Value);

impl<'a> FromSql<'a> for Cell {
    fn from_sql(ty: &Type, raw: &'a [u8]) -> Result<Cell, Fault> {
        decode(ty, raw).map(Cell)
    }

    fn from_sql_null(_: &Type) -> Result<Cell, Fault> {
        Ok(Cell(Value::Null))
    }

    fn accepts(_: &Type) -> bool {
        true
    }
}

fn decode(ty: &Type, raw: &[u8]) -> Result<Value, Fault> {
    match ty.kind() {
        Kind::Array(element) => array(element, Reader(raw)),
        Kind::Domain(inner) => decode(inner, raw),
        Kind::Range(inner) => range(inner, &mut Reader(raw)).map(Value::from),
        Kind::Multirange(inner) => multirange(inner, Reader(raw)),
        Kind::Composite(fields) => {
            let names = fields.iter().map(|field| (field.name(), field.type_()));
            composite(names, Reader(raw))
        }
        _ => simple(ty, raw),
    }
}

fn simple(ty: &Type, raw: &[u8]) -> Result<Value, Fault> {
    let mut reader = Reader(raw);
    Ok(match *ty {
        Type::BOOL => Value::Bool(reader.u8()? != 0),
        Type::INT2 => Value::Int(reader.i16()?.into()),
        Type::INT4 => Value::Int(reader.i32()?.into()),
        Type::INT8 => Value::Int(reader.i64()?),
        Type::OID | Type::XID | Type::CID | Type::REGCLASS | Type::REGTYPE | Type::REGPROC => {
            Value::Int(i64::from(reader.u32()?))
        }
        // The shortest text of the single-precision number, so that 0.1 stays 0.1.
        Type::FLOAT4 => Value::Float(f32::from_bits(reader.u32()?).to_string().parse()?),
        Type::FLOAT8 => Value::Float(f64::from_bits(reader.i64()? as u64)),
        Type::NUMERIC => numeric::decode(&mut reader)?,
        Type::JSON => serde_json::from_slice(raw)?,
        // A version number comes first.
        Type::JSONB => serde_json::from_slice(raw.get(1..).unwrap_or_default())?,
        Type::CHAR => char::from(reader.u8()?).to_string().into(),
        Type::UUID => uuid(raw).into(),
        Type::BYTEA => hex(raw).into(),
        Type::DATE => time::date(reader.i32()?).into(),
        Type::TIME => time::time(reader.i64()?).into(),
        Type::TIMETZ => format!("{}{}", time::time(reader.i64()?), time::zone(-reader.i32()?)).into(),
        Type::TIMESTAMP => time::timestamp(reader.i64()?, "").into(),
        Type::TIMESTAMPTZ => time::timestamp(reader.i64()?, "+00:00").into(),
        Type::INTERVAL => {
            let (micros, days, months) = (reader.i64()?, reader.i32()?, reader.i32()?);
            time::interval(months, days, micros).into()
        }
        Type::MONEY => {
            let cents = reader.i64()?;
            let sign = if cents < 0 { "-" } else { "" };
            format!("{sign}{}.{:02}", cents.unsigned_abs() / 100, cents.unsigned_abs() % 100).into()
        }
        Type::INET | Type::CIDR => network(&mut reader, *ty == Type::CIDR)?.into(),
        Type::MACADDR | Type::MACADDR8 => {
            raw.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":").into()
        }
        Type::BIT | Type::VARBIT => bits(&mut reader)?.into(),
        Type::VOID => Value::Null,
        Type::POINT => format!("({},{})", reader.f64()?, reader.f64()?).into(),
        Type::RECORD => composite(std::iter::repeat(("", &Type::UNKNOWN)), reader)?,
        _ => other(raw),
    })
}

/// Types that are not known here: most are text on the wire, too.
fn other(raw: &[u8]) -> Value {
    match std::str::from_utf8(raw) {
        Ok(text) if !text.contains('\0') => text.into(),
        _ => hex(raw).into(),
    }
}

fn array(element: &Type, mut reader: Reader<'_>) -> Result<Value, Fault> {
    let dimensions = reader.i32()?;
    let (_has_nulls, _element_type) = (reader.i32()?, reader.u32()?);
    let mut lengths = Vec::new();
    for _ in 0..dimensions {
        let (length, _lower_bound) = (reader.i32()?, reader.i32()?);
        lengths.push(usize::try_from(length)?);
    }
    if lengths.is_empty() {
        return Ok(Value::list([]));
    }
    nested(element, &lengths, &mut reader)
}

fn nested(element: &Type, lengths: &[usize], reader: &mut Reader<'_>) -> Result<Value, Fault> {
    let Some((length, inner)) = lengths.split_first() else {
        return optional(element, reader);
    };
    let mut items = Vec::new();
    for _ in 0..*length {
        items.push(nested(element, inner, reader)?);
    }
    Ok(items.into())
}

/// A value behind its length, of which -1 stands for null.
fn optional(ty: &Type, reader: &mut Reader<'_>) -> Result<Value, Fault> {
    match usize::try_from(reader.i32()?) {
        Ok(length) => decode(ty, reader.take(length)?),
        Err(_) => Ok(Value::Null),
    }
}

/// A map by field name; a list for rows without names.
fn composite<'a>(
    fields: impl Iterator<Item = (&'a str, &'a Type)>,
    mut reader: Reader<'_>,
) -> Result<Value, Fault> {
    let count = usize::try_from(reader.i32()?)?;
    let (mut named, mut unnamed) = (Map::new(), Vec::new());
    for (name, ty) in fields.take(count) {
        let oid = reader.u32()?;
        let own = Type::from_oid(oid);
        let value = optional(own.as_ref().filter(|_| name.is_empty()).unwrap_or(ty), &mut reader)?;
        if name.is_empty() {
            unnamed.push(value);
        } else {
            named.insert(name.into(), value);
        }
    }
    Ok(if named.is_empty() { unnamed.into() } else { named.into() })
}

fn range(inner: &Type, reader: &mut Reader<'_>) -> Result<String, Fault> {
    const EMPTY: u8 = 1;
    const LOWER_IN: u8 = 2;
    const UPPER_IN: u8 = 4;
    const LOWER_OPEN: u8 = 8;
    const UPPER_OPEN: u8 = 16;
    let flags = reader.u8()?;
    if flags & EMPTY != 0 {
        return Ok("empty".to_owned());
    }
    let mut bound = |open: u8| -> Result<String, Fault> {
        if flags & open != 0 {
            return Ok(String::new());
        }
        Ok(match optional(inner, reader)? {
            Value::Text(text) => text.to_string(),
            other => other.to_string(),
        })
    };
    let (lower, upper) = (bound(LOWER_OPEN)?, bound(UPPER_OPEN)?);
    let left = if flags & LOWER_IN != 0 { '[' } else { '(' };
    let right = if flags & UPPER_IN != 0 { ']' } else { ')' };
    Ok(format!("{left}{lower},{upper}{right}"))
}

fn multirange(inner: &Type, mut reader: Reader<'_>) -> Result<Value, Fault> {
    let count = reader.i32()?;
    let mut ranges = Vec::new();
    for _ in 0..count {
        let length = usize::try_from(reader.i32()?)?;
        ranges.push(range(inner, &mut Reader(reader.take(length)?))?);
    }
    Ok(format!("{{{}}}", ranges.join(",")).into())
}

fn uuid(raw: &[u8]) -> String {
    let digits: String = raw.iter().map(|byte| format!("{byte:02x}")).collect();
    match digits.len() {
        32 => format!(
            "{}-{}-{}-{}-{}",
            &digits[..8],
            &digits[8..12],
            &digits[12..16],
            &digits[16..20],
            &digits[20..]
        ),
        _ => digits,
    }
}

fn hex(raw: &[u8]) -> String {
    let digits: String = raw.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("\\x{digits}")
}

fn network(reader: &mut Reader<'_>, is_network: bool) -> Result<String, Fault> {
    let (_family, prefix, _is_cidr, length) = (reader.u8()?, reader.u8()?, reader.u8()?, reader.u8()?);
    let (address, longest) = match length {
        4 => (Ipv4Addr::from(<[u8; 4]>::try_from(reader.take(4)?)?).to_string(), 32),
        _ => (Ipv6Addr::from(<[u8; 16]>::try_from(reader.take(16)?)?).to_string(), 128),
    };
    Ok(if prefix == longest && !is_network { address } else { format!("{address}/{prefix}") })
}

fn bits(reader: &mut Reader<'_>) -> Result<String, Fault> {
    let length = usize::try_from(reader.i32()?)?;
    let digits: String = reader.0.iter().map(|byte| format!("{byte:08b}")).collect();
    Ok(digits.get(..length).unwrap_or(&digits).to_owned())
}

/// Takes numbers in network order from the front of some bytes.
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub fn take(&mut self, length: usize) -> Result<&'a [u8], Fault> {
        let (taken, rest) =
            self.0.split_at_checked(length).ok_or("the value is shorter than its type says")?;
        self.0 = rest;
        Ok(taken)
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        Ok(self.take(N)?.try_into()?)
    }

    pub fn u8(&mut self) -> Result<u8, Fault> {
        Ok(self.bytes::<1>()?[0])
    }

    pub fn i16(&mut self) -> Result<i16, Fault> {
        Ok(i16::from_be_bytes(self.bytes()?))
    }

    pub fn u16(&mut self) -> Result<u16, Fault> {
        Ok(u16::from_be_bytes(self.bytes()?))
    }

    pub fn i32(&mut self) -> Result<i32, Fault> {
        Ok(i32::from_be_bytes(self.bytes()?))
    }

    pub fn u32(&mut self) -> Result<u32, Fault> {
        Ok(u32::from_be_bytes(self.bytes()?))
    }

    pub fn i64(&mut self) -> Result<i64, Fault> {
        Ok(i64::from_be_bytes(self.bytes()?))
    }

    pub fn f64(&mut self) -> Result<f64, Fault> {
        Ok(f64::from_be_bytes(self.bytes()?))
    }
}
