//! Small pictures, really encoded.

use bytes::Bytes;
use helmdeck_wire::screen::Format;

/// Grey value of every pixel.
const GREY: u8 = 0x80;

/// An encoded picture of one colour.
pub fn picture(format: Format, width: u16, height: u16) -> Bytes {
    let rgb = vec![GREY; usize::from(width) * usize::from(height) * 3];
    let (wide, high) = (u32::from(width), u32::from(height));
    let mut bytes = Vec::new();
    match format {
        Format::Png => {
            let mut encoder = png::Encoder::new(&mut bytes, wide, high);
            encoder.set_color(png::ColorType::Rgb);
            encoder.set_depth(png::BitDepth::Eight);
            let mut writer = encoder.write_header().expect("a header");
            writer.write_image_data(&rgb).expect("pixels");
            writer.finish().expect("an end");
        }
        Format::Webp => {
            let encoder = image_webp::WebPEncoder::new(&mut bytes);
            encoder.encode(&rgb, wide, high, image_webp::ColorType::Rgb8).expect("a picture");
        }
        Format::Jpeg => {
            let encoder = jpeg_encoder::Encoder::new(&mut bytes, 50);
            encoder.encode(&rgb, width, height, jpeg_encoder::ColorType::Rgb).expect("a picture");
        }
    }
    bytes.into()
}

/// A document with one empty page.
pub const PDF: &str = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n\
    2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
    3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\n\
    trailer<</Root 1 0 R>>\n%%EOF\n";
