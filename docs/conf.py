"""How Sphinx renders the site (docs/site.py assembles it)."""

from pygments.lexer import RegexLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, String, Text

project = "ptosim"
extensions = ["myst_parser"]
exclude_patterns = ["examples", "src", "tests", "benchmarks"]
html_theme = "furo"
html_title = "ptosim"
html_copy_source = False
html_show_copyright = False
myst_heading_anchors = 4
highlight_language = "text"


class KernelLexer(RegexLexer):
    """The colours of a kernel."""

    tokens = {  # noqa: RUF012
        "root": [
            (r"//.*", Comment.Single),
            (r'"[^"]*"', String),
            (r"%[\w$.#-]+", Name.Variable),
            (r"@[\w$.-]+", Name.Function),
            (r"![\w$.-]+|[su]?i\d+\b|bf16\b|f\d\w*|index\b", Keyword.Type),
            (r"(?:scf|func|cf|builtin)\.[\w.]+|(?:module|return|attributes|iter_args|step|to|else)\b", Keyword),
            (r"(?:pto|arith|math|llvm)\.[\w.]+", Name.Builtin),
            (r"-?(?:0x[0-9a-fA-F]+|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)", Number),
            (r"[\w.$]+|\s+", Text),
            (r".", Operator),
        ]
    }


def setup(app):
    for name in ("pto", "mlir"):
        app.add_lexer(name, KernelLexer)
