//! Time zones and languages of sessions.

use std::{fs::File, io::Read, path::Path};

/// The sandbox reads its time zones here, too.
const ZONES: &str = "/usr/share/zoneinfo";
/// Magic bytes of a time zone file.
const MAGIC: &[u8; 4] = b"TZif";
const MAX_ZONE: usize = 64;
const MAX_LOCALE: usize = 32;
/// The languages of ISO 639-1, and three-letter languages that browsers know.
const LANGUAGES: &str = "aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce \
    ch co cr cs cu cv cy da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv \
    ha he hi ho hr ht hu hy hz ia id ie ig ii ik in io is it iu iw ja ji jv ka kg ki kj kk kl km \
    kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mo mr ms mt my na nb nd \
    ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si \
    sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve \
    vi vo wa wo xh yi yo za zh zu agq asa ast bas bem bez bgc bho brx ceb cgg chr ckb dav dje doi \
    dsb dua dyo ebu ewo fil fur gsw guz haw hmn hsb jgo jmc kab kam kde kea kgp khq kln kok ksb \
    ksf ksh lag lkt lrc luo luy mai mas mer mfe mgh mgo mni mua mzn naq nds nmg nnh nus nyn pcm \
    prg rof rwk sah saq sat sbp seh ses shi smn sms teo twq tzm vai vun wae xog yav yrl yue zgh";

/// Whether this machine knows the time zone. Without time zone files, checks only the syntax.
pub fn is_timezone(name: &str) -> bool {
    is_zone_in(Path::new(ZONES), name)
}

fn is_zone_in(zones: &Path, name: &str) -> bool {
    let part = |part: &str| {
        !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-_".contains(&b))
    };
    if name.len() > MAX_ZONE || !name.split('/').all(part) {
        return false;
    }
    // Variants with other leap seconds are not zones.
    if name.starts_with("posix/") || name.starts_with("right/") {
        return false;
    }
    if !zones.is_dir() {
        return true;
    }
    let mut magic = [0; MAGIC.len()];
    let read = File::open(zones.join(name)).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && magic == *MAGIC
}

/// Whether this is a tag of a known language, such as `de`, `pt-BR` or `zh-Hant-TW`.
pub fn is_locale(tag: &str) -> bool {
    let mut parts = tag.split(['-', '_']).peekable();
    let language = parts.next().unwrap_or_default().to_ascii_lowercase();
    if tag.len() > MAX_LOCALE || !LANGUAGES.split_whitespace().any(|known| known == language) {
        return false;
    }
    let letters = |part: &str| part.bytes().all(|b| b.is_ascii_alphabetic());
    let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let _script = parts.next_if(|part| part.len() == 4 && letters(part));
    let _region = parts
        .next_if(|part| (part.len() == 2 && letters(part)) || (part.len() == 3 && digits(part)));
    parts.all(|variant| {
        let long = (5..=8).contains(&variant.len());
        let dated = variant.len() == 4 && variant.starts_with(|c: char| c.is_ascii_digit());
        (long || dated) && variant.bytes().all(|b| b.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_zone_must_exist_on_the_machine() {
        let zones = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(zones.path().join("Europe")).unwrap();
        std::fs::write(zones.path().join("Europe/Paris"), b"TZif2...").unwrap();
        std::fs::write(zones.path().join("zone.tab"), b"# text").unwrap();
        let known = |name: &str| is_zone_in(zones.path(), name);
        assert!(known("Europe/Paris"));
        for unknown in ["Mars/Olympus", "Europe", "europe/paris", "zone.tab", "", "/etc/passwd"] {
            assert!(!known(unknown), "{unknown}");
        }
        assert!(!known("../Europe/Paris") && !known("Europe//Paris") && !known("posix/Europe"));
        let nothing = Path::new("/nonexistent");
        assert!(is_zone_in(nothing, "Mars/Olympus") && !is_zone_in(nothing, "a b"));
    }

    #[test]
    fn a_locale_is_a_well_formed_tag_of_a_known_language() {
        for good in [
            "de",
            "de-DE",
            "de_DE",
            "pt-BR",
            "zh-Hant-TW",
            "es-419",
            "fil-PH",
            "EN-us",
            "sl-rozaj",
            "de-CH-1996",
        ] {
            assert!(is_locale(good), "{good}");
        }
        for bad in [
            "",
            "xx",
            "xx-YY",
            "klingon",
            "de-",
            "de-D",
            "-DE",
            "de-DE-x",
            "d",
            "de DE",
            "de-DE.UTF-8",
            "english",
            "de-DEU",
        ] {
            assert!(!is_locale(bad), "{bad}");
        }
    }
}
