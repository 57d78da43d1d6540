//! The framing of a body, taken off (RFC 9112 sections 6.2 and 7.1).

use apus_proto::http1::{ChunkEvent, ChunkLimits, ChunkedDecoder, Framing, Reject, Trailer};

/// What a call found in the input.
pub(crate) enum Piece<'a> {
    Data(&'a [u8]),
    /// The input is used up.
    NeedMore,
    End,
}

pub(crate) enum BodyDecoder {
    /// Bytes still to come.
    Length(u64),
    /// `taken` counts the data so far, against `max`.
    Chunked { decoder: Box<ChunkedDecoder>, taken: u64, max: u64 },
    /// A stream that ends by itself, and may bring so much.
    Stream { room: u64 },
}

pub(crate) const TOO_LARGE: Reject = Reject::new(413, "the body is larger than this server allows");

impl BodyDecoder {
    pub(crate) fn new(framing: Framing, max: u64) -> Result<Self, Reject> {
        match framing {
            Framing::None => Ok(Self::Length(0)),
            Framing::Length(length) if length > max => Err(TOO_LARGE),
            Framing::Length(length) => Ok(Self::Length(length)),
            Framing::Chunked => {
                Ok(Self::Chunked { decoder: Box::new(ChunkedDecoder::new(ChunkLimits::default())), taken: 0, max })
            }
        }
    }

    /// Of a stream of HTTP/2, which says itself where it ends; that the length is the announced one is its to see.
    pub(crate) fn of_stream(framing: Framing, max: u64) -> Result<Self, Reject> {
        match framing {
            Framing::Chunked => Ok(Self::Stream { room: max }),
            known => Self::new(known, max),
        }
    }

    /// Reads on: how many bytes of the input are done with, and what they held.
    pub(crate) fn next<'a>(&mut self, input: &'a [u8]) -> Result<(usize, Piece<'a>), Reject> {
        match self {
            Self::Length(0) => Ok((0, Piece::End)),
            Self::Length(_) | Self::Stream { .. } if input.is_empty() => Ok((0, Piece::NeedMore)),
            Self::Length(left) => {
                let take = usize::try_from(*left).unwrap_or(usize::MAX).min(input.len());
                *left -= take as u64;
                Ok((take, Piece::Data(&input[..take])))
            }
            Self::Stream { room } => {
                *room = room.checked_sub(input.len() as u64).ok_or(TOO_LARGE)?;
                Ok((input.len(), Piece::Data(input)))
            }
            Self::Chunked { decoder, taken, max } => match decoder.decode(input)? {
                (used, ChunkEvent::Data(range)) => {
                    let data = input.get(range).unwrap_or_default();
                    *taken += data.len() as u64;
                    // The rest of the chunk counts before it arrives, so that a huge one is refused at once.
                    if taken.saturating_add(decoder.chunk_remaining()) > *max {
                        return Err(TOO_LARGE);
                    }
                    Ok((used, Piece::Data(data)))
                }
                (used, ChunkEvent::NeedMore) => Ok((used, Piece::NeedMore)),
                (used, ChunkEvent::End) => Ok((used, Piece::End)),
            },
        }
    }

    /// Bytes still to come, where the framing says so.
    pub(crate) fn left(&self) -> Option<u64> {
        match self {
            Self::Length(left) => Some(*left),
            Self::Chunked { decoder, .. } => decoder.is_end().then_some(0),
            Self::Stream { .. } => None,
        }
    }

    pub(crate) fn take_trailers(&mut self) -> Vec<Trailer> {
        match self {
            Self::Length(_) | Self::Stream { .. } => Vec::new(),
            Self::Chunked { decoder, .. } => decoder.take_trailers(),
        }
    }
}
