"""``horopca demo``."""

from .running import refused, run


def test_demo_draws_a_picture_and_says_where(tmp_path):
    result = run("demo", "--out", tmp_path)
    assert result.exit_code == 0, result.output
    assert (tmp_path / "horopca-demo.png").read_bytes().startswith(PNG)
    assert "horopca-demo.png" in "".join(result.stdout.split())
    refused(run("demo", "--out", tmp_path), "exists already")
    refused(run("demo", "--out", tmp_path / "no"), "there is no folder")
