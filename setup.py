"""Package metadata. Tool settings are in pyproject.toml."""

import gzip
import os
import tarfile
import time
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.sdist import sdist

os.umask(0o022)  # the modes of files in a wheel


class ReproducibleSdist(sdist):
    """Source archive of the same bytes for the same files: sorted, without owners, at ``SOURCE_DATE_EPOCH``."""

    def make_archive(self, base_name: str, format: str, **options: str | None) -> str:
        """Write the folder ``base_dir`` to a new file, and return its path."""
        path = Path(f"{base_name}.tar.gz")
        when = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
        with (
            path.open("wb") as raw,
            gzip.GzipFile("", "wb", fileobj=raw, mtime=when) as zipped,
            tarfile.open(fileobj=zipped, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            for file in sorted(file for file in Path(options["base_dir"]).rglob("*") if file.is_file()):
                entry = archive.gettarinfo(file)
                entry.uid, entry.gid, entry.uname, entry.gname = 0, 0, "", ""
                entry.mtime, entry.mode = when, 0o755 if entry.mode & 0o100 else 0o644
                with file.open("rb") as content:
                    archive.addfile(entry, content)
        return str(path)


# The core (install_requires) trains, evaluates and redacts with the CRF and the rules. Everything else is an extra.
_RNN = ["jax>=0.10", "flax>=0.12", "optax>=0.2.5", "gensim>=4.4"]
_PARQUET = ["pyarrow>=17"]
_POS = ["nltk>=3.9", "textblob>=0.19"]
EXTRAS = {
    "rnn": _RNN,
    "experiments": [*_RNN, *_POS, "pandas>=2.2", "matplotlib>=3.9"],
    "zstd": ['backports.zstd>=1.0; python_version < "3.14"'],
    "crypto": ["cryptography>=44"],
    "parquet": _PARQUET,
    "documents": ["pypdf>=7"],
    "pos": _POS,
    "encoders": [*_RNN, "safetensors>=0.4", "tokenizers>=0.20"],
    "sklearn": ["scikit-learn>=1.6"],
    "spacy": ["spacy>=3.8"],
    "presidio": ["presidio-analyzer>=2.2.360", "presidio-anonymizer>=2.2.360"],
    "serve": ["starlette>=0.46", "uvicorn>=0.34", "h11>=0.16", "presidio-anonymizer>=2.2.360"],
    "spark": [*_PARQUET, "pyspark[connect]>=4.0"],
}


def requirements(*extras: str) -> list[str]:
    """Requirements of several extras, each once."""
    return list(dict.fromkeys(requirement for extra in extras for requirement in EXTRAS[extra]))


setup(
    name="crfdeid",
    cmdclass={"sdist": ReproducibleSdist},
    version="0.1.0",
    description="Find and hide protected health information in clinical notes with models you train yourself",
    long_description=Path(__file__).with_name("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="MIT",
    license_files=["LICENSE"],
    classifiers=[
        "Development Status :: 4 - Beta",
        "Intended Audience :: Healthcare Industry",
        "Intended Audience :: Science/Research",
        "Operating System :: MacOS",
        "Operating System :: Microsoft :: Windows",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Programming Language :: Python :: 3.13",
        "Topic :: Scientific/Engineering :: Medical Science Apps.",
        "Topic :: Text Processing :: Linguistic",
        "Typing :: Typed",
    ],
    keywords=["de-identification", "PHI", "clinical NLP", "named entity recognition", "CRF", "JAX"],
    python_requires=">=3.11",
    entry_points={
        "console_scripts": ["crfdeid=crfdeid.cli:main"],
        "spacy_factories": ["crfdeid=crfdeid.integrations.spacy:make_component"],
    },
    packages=find_packages(include=["crfdeid*", "features*", "rnn*", "experiments*"]),
    package_data={
        "crfdeid": ["py.typed", "*.txt", "models/*/*"],
        "crfdeid.audit": ["templates/*"],
        "crfdeid.augmentation": ["*.txt"],
        "crfdeid.corpora.synthetic": ["*.toml", "*.txt"],
        "crfdeid.corpora.templates": ["english/*.txt", "spanish/*.txt", "german/*.txt", "french/*.txt", "languages/*"],
        "crfdeid.explain": ["templates/*"],
        "crfdeid.markup": ["*.toml"],
        "crfdeid.utils": ["*.css", "*.html"],
        "crfdeid.redaction": ["*.toml"],
        "crfdeid.review": ["templates/*"],
        "crfdeid.rules": ["*.txt", "*.toml"],
        "crfdeid.serve": ["templates/*"],
        "experiments": ["py.typed", "templates/*"],
        "experiments.core": ["*.json"],
        "features": ["py.typed"],
        "features.languages": ["*.toml", "*.xz"],
        "rnn": ["py.typed", "*.toml"],
    },
    install_requires=[
        "numpy>=1.26",
        "scipy>=1.12",
        "regex>=2024.4",
        "python-stdnum>=1.20",
        "sklearn-crfsuite>=0.5",
        "tabulate>=0.9",
        "tqdm>=4.66",
        "threadpoolctl>=3.5",
        "Faker>=30",
        "defusedxml>=0.7.1",
        "jinja2>=3.1",
        "click>=8.1",
        "filelock>=3.30",
    ],
    extras_require={
        **EXTRAS,
        "all": requirements("rnn", "experiments", "crypto", "parquet", "documents", "zstd", "encoders", "spark"),
        "gpu": [*EXTRAS["rnn"], "jax[cuda12]>=0.10"],
        "test": [
            *requirements(
                "rnn", "experiments", "crypto", "parquet", "documents", "zstd", "encoders", "sklearn", "serve"
            ),
            "pytest>=8",
            "pytest-xdist>=3.6",
            "hypothesis>=6.100",
            "seqeval>=1.2.2",
            "nervaluate>=1.0",
            "ruff>=0.6",
            "mypy>=1.11",
            "pandas-stubs",
            "types-tabulate",
            "types-tqdm",
            "types-defusedxml",
            "types-regex",
            "scipy-stubs",
            "dkpro-cassis>=0.10",
            "duckdb>=2.0",
        ],
        "benchmarks": ["torch>=2.4", "presidio-analyzer>=2.2.350", "presidio-anonymizer>=2.2.350"],
        "oracles": [*requirements("encoders"), "torch>=2.4", "transformers>=4.46"],
        "docs": [
            *requirements("experiments", "encoders", "parquet"),
            "sphinx>=8.2",
            "myst-nb>=1.3",
            "furo>=2025.7",
            "jupytext>=1.16.4",
            "codespell>=2.4",
        ],
        "release": ["build>=1.2", "pyyaml>=6", "setuptools>=77", "twine>=6"],
        "lessons": ["jupyterlab>=4.2", "jupytext>=1.16.4"],
    },
)
