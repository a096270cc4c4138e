"""Package metadata. Tool settings are in pyproject.toml."""

from pathlib import Path

from setuptools import find_packages, setup

setup(
    name="crfdeid",
    version="0.1.0",
    description="Find and hide protected health information in clinical notes with models you train yourself",
    long_description=Path(__file__).with_name("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="MIT",
    python_requires=">=3.11",
    entry_points={"console_scripts": ["crfdeid=crfdeid.cli:main"]},
    packages=find_packages(include=["crfdeid*", "features*", "rnn*", "experiments*"]),
    package_data={
        "crfdeid.corpora.synthetic": ["*.txt", "*.json"],
        "experiments": ["templates/*"],
    },
    install_requires=[
        "numpy>=1.26",
        "scipy>=1.12",
        "regex>=2024.4",
        "python-stdnum>=1.20",
        "nltk>=3.9",
        "textblob>=0.19",
        "sklearn-crfsuite>=0.5",
        "jax>=0.10",
        "flax>=0.12",
        "optax>=0.2.5",
        "pandas>=2.2",
        "tabulate>=0.9",
        "tqdm>=4.66",
        "threadpoolctl>=3.5",
        "Faker>=30",
        "defusedxml>=0.7.1",
        "gensim>=4.4",
        "matplotlib>=3.9",
        "jinja2>=3.1",
        "pyarrow>=17",
    ],
    extras_require={
        "test": [
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
        ],
        "benchmarks": ["torch>=2.4", "presidio-analyzer>=2.2.350", "presidio-anonymizer>=2.2.350"],
        "gpu": ["jax[cuda12]>=0.10"],
    },
)
