//! Why a document cannot be read.

/// Why a document cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// The file cannot be read.
    #[error("the file cannot be read: {0}")]
    Unreadable(String),
    /// It is larger than the limit.
    #[error("the document has {0} bytes; the limit is 64 MiB")]
    TooLarge(u64),
    /// It has no known format.
    #[error(
        "{0}; PDF, DOCX, PPTX, HTML, text and pictures (PNG, JPEG, TIFF, WebP, GIF, BMP) can be read"
    )]
    Unsupported(String),
    /// It is not what its first bytes promise.
    #[error("the document is damaged: {0}")]
    Damaged(String),
    /// A program that is needed is not installed.
    #[error("{0} is not installed")]
    MissingProgram(String),
    /// A language of tesseract is not installed.
    #[error("tesseract has no data for the language {0:?}")]
    MissingLanguage(String),
    /// A program failed.
    #[error("{program} failed: {message}")]
    Program {
        /// Its name.
        program: String,
        /// The end of what it wrote.
        message: String,
    },
}

impl DocumentError {
    /// What went wrong, in a word.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unreadable(_) => "unreadable",
            Self::TooLarge(_) => "too_large",
            Self::Unsupported(_) => "unsupported",
            Self::Damaged(_) => "damaged",
            Self::MissingProgram(_) => "missing_program",
            Self::MissingLanguage(_) => "missing_language",
            Self::Program { .. } => "program",
        }
    }
}
