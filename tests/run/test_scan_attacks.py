# SPDX-License-Identifier: Apache-2.0
"""Attacks on planning: a file that some table needs must never be named, and a normal table must not be refused."""

import gzip
import json
import os
import resource
import signal
import subprocess
import time
import unittest

import scan_world
from scan_world import DAY, UUID_A, UUID_B, Table, World


class Aliases(World):
    """One file, several paths."""

    def test_names_through_a_link_left_where_the_table_was(self):
        """The folder was moved and a link left; old manifests still name the old path."""
        t = Table(self, "wh/t")
        live = t.file("data/old.parquet")
        os.symlink(self.path("wh/t"), self.path("wh/was"))
        t.file("data/new.parquet")
        t.file("data/o.parquet")
        t.snapshot(["file:" + self.path("wh/was/data/old.parquet"), t.location + "/data/new.parquet"])
        t.commit()
        self.assertTrue(live)
        self.check_plan(t, ["wh/t/data/o.parquet"])

    def test_names_through_another_mapped_prefix(self):
        t = Table(self, "wh/t", location="s3://b/wh/t")
        t.file("data/one.parquet")
        t.file("data/two.parquet")
        t.file("data/o.parquet")
        t.snapshot(["s3://b/wh/t/data/one.parquet", "hdfs://nn/old/t/data/two.parquet"], metadata=t.folder + "/metadata", summary=None)
        for s in t.snapshots:
            s["manifest-list"] = s["manifest-list"].replace("file:" + t.folder, t.location)
        t.commit()
        self.check_plan(t, ["s3://b/wh/t/data/o.parquet"], "--map", "s3://b/wh=" + self.path("wh"), "--map", "hdfs://nn/old=" + self.path("wh"))

    def test_linked_file_elsewhere(self):
        """The metadata names a link outside the table that leads to a file inside."""
        t = Table(self, "wh/t")
        t.file("data/real.parquet")
        t.file("data/o.parquet")
        os.makedirs(self.path("other"))
        os.symlink(t.folder + "/data/real.parquet", self.path("other/alias.parquet"))
        t.snapshot(["file:" + self.path("other/alias.parquet")])
        t.commit()
        self.check_plan(t, ["wh/t/data/o.parquet"])

    def test_link_in_a_part_that_is_not_scanned(self):
        """--location t/data; a link in t/links leads there."""
        t = Table(self, "wh/t")
        t.file("data/p/real.parquet")
        t.file("data/p/o.parquet")
        os.makedirs(t.folder + "/links")
        os.symlink(t.folder + "/data/p", t.folder + "/links/p")
        t.snapshot([t.location + "/links/p/real.parquet"])
        t.commit()
        self.check_plan(t, ["wh/t/data/p/o.parquet"], "--location", t.location + "/data")

    def test_linked_file_in_a_part_that_is_not_scanned(self):
        t = Table(self, "wh/t")
        t.file("data/real.parquet")
        t.file("data/o.parquet")
        os.makedirs(t.folder + "/links")
        os.symlink("../data/real.parquet", t.folder + "/links/alias.parquet")
        t.snapshot([t.location + "/links/alias.parquet"])
        t.commit()
        self.check_plan(t, ["wh/t/data/o.parquet"], "--location", t.location + "/data")

    def test_link_in_an_excluded_folder(self):
        t = Table(self, "wh/t")
        t.file("data/p/real.parquet")
        t.file("data/p/o.parquet")
        os.makedirs(t.folder + "/links")
        os.symlink(t.folder + "/data/p", t.folder + "/links/p")
        t.snapshot([t.location + "/links/p/real.parquet"])
        t.commit()
        self.check_plan(t, ["wh/t/data/p/o.parquet"], "--exclude", t.location + "/links")

    def test_links(self):
        """SL8, a chain, a folder, a link inside a linked folder, one to above, a dangling one that nobody uses."""
        t = Table(self, "wh/t")
        for name in ("data/real.parquet", "data/far.parquet", "data/p/f1.parquet", "data/q/f2.parquet", "data/q/o2.parquet", "data/o.parquet",
                     "data/up.parquet"):
            t.file(name)
        os.symlink("real.parquet", t.folder + "/data/alias.parquet")
        os.symlink("c2", t.folder + "/data/c1")
        os.symlink("far.parquet", t.folder + "/data/c2")
        os.symlink("p", t.folder + "/data/linked")
        os.symlink("../q", t.folder + "/data/p/inner")
        os.symlink("..", t.folder + "/data/loop")
        os.symlink("nowhere", t.folder + "/data/dangling")
        base = t.location + "/data/"
        t.snapshot([base + n for n in ("alias.parquet", "c1", "linked/f1.parquet", "linked/inner/f2.parquet", "loop/data/loop/data/up.parquet")])
        t.commit()
        self.check_plan(t, ["wh/t/data/o.parquet", "wh/t/data/q/o2.parquet"])

    def test_dangling_link_in_use(self):
        t = Table(self, "wh/t")
        t.file("data/o.parquet")
        os.symlink("nowhere", t.folder + "/data/gone")
        t.snapshot([t.location + "/data/gone/f.parquet"])
        t.commit()
        self.refused(t, "location.link_in_use")
        t2 = Table(self, "wh/t2", uuid=UUID_B)
        t2.file("data/o.parquet")
        os.symlink("nowhere.parquet", t2.folder + "/data/f.parquet")
        t2.snapshot([t2.location + "/data/f.parquet"])
        t2.commit()
        self.refused(t2, "location.link_in_use")

    def test_missing_file_behind_a_link(self):
        """The link may have led elsewhere once: the file that was meant may be any of those listed."""
        t = Table(self, "wh/t")
        t.file("data/p/f.parquet")
        os.makedirs(t.folder + "/data/empty")
        os.symlink("empty", t.folder + "/data/linked")
        t.snapshot([t.location + "/data/linked/f.parquet"])
        t.commit()
        self.refused(t, "location.link_in_use", says="linked/f.parquet")

    def test_other_prefix_of_the_same_place_in_mode_delete(self):
        """Mapped to the same folder: a file named under that prefix is live, whatever the mode."""
        t = Table(self, "wh/t", location="s3://b/wh/t")
        t.file("data/o.parquet")
        t.file("data/far.parquet")
        t.snapshot([t.file("data/a.parquet"), "hdfs://nn/wh/t/data/far.parquet"])
        t.snapshots[0]["manifest-list"] = t.snapshots[0]["manifest-list"].replace("file:" + t.folder, t.location)
        t.commit()
        maps = ["--map", "s3://b/wh=" + self.path("wh"), "--map", "hdfs://nn/wh=" + self.path("wh")]
        self.refused(t, "location.prefix_conflict", *maps)
        self.check_plan(t, ["s3://b/wh/t/data/o.parquet"], "--prefix-mismatch", "delete", *maps)

    def test_links_and_read_also(self):
        """Reading the names again for links obeys --read-also too."""
        t = Table(self, "wh/t", location="s3://b/wh/t")
        t.file("data/real.parquet")
        t.file("data/o.parquet")
        os.symlink("real.parquet", t.folder + "/data/alias.parquet")
        t.snapshot(["s3://b/wh/t/data/alias.parquet", t.file("data/live.parquet")], metadata=self.path("meta"))
        t.commit()
        options = ["--map", "s3://b/wh=" + self.path("wh")]
        self.refused(t, "location.unsupported_scheme", *options, says="--read-also")
        self.check_plan(t, ["s3://b/wh/t/data/o.parquet"], "--read-also", "file:" + self.path("meta"), *options)

    def test_names_of_a_co_owner_through_a_link(self):
        t = self.table("wh/t", "data/a.parquet")
        t.file("data/real.parquet")
        t.file("data/o.parquet")
        os.symlink("real.parquet", t.folder + "/data/alias.parquet")
        other = Table(self, "wh/other", uuid=UUID_B)
        other.snapshot([t.location + "/data/alias.parquet"])
        other.commit()
        self.check_plan(t, ["wh/t/data/o.parquet"], "--with", other.folder)

    def test_names_of_an_outer_table_through_a_link(self):
        outer = Table(self, "wh", uuid=UUID_B)
        t = self.table("wh/t", "data/a.parquet")
        t.file("data/real.parquet")
        t.file("data/o.parquet")
        os.symlink("real.parquet", t.folder + "/data/alias.parquet")
        outer.snapshot([t.location + "/data/alias.parquet"])
        outer.commit()
        self.check_plan(t, ["wh/t/data/o.parquet"])

    def test_hard_links(self):
        """Two names of one inode: the referenced one stays, the other may go; the content lives on."""
        t = Table(self, "wh/t")
        live = t.file("data/a.parquet")
        os.link(t.folder + "/data/a.parquet", t.folder + "/data/b.parquet")
        t.snapshot([live])
        t.commit()
        self.check_plan(t, ["wh/t/data/b.parquet"])

    def test_location_reached_through_a_link(self):
        """The catalog's path is a link; names are real paths, and the other way round."""
        t = Table(self, "real/t", location="file:" + self.path("wh/link"))
        os.makedirs(self.path("real"), exist_ok=True)
        t.file("data/a.parquet")
        t.file("data/b.parquet")
        t.file("data/o.parquet")
        os.symlink(t.folder, self.path("wh/link"))
        t.snapshot(["file:" + t.folder + "/data/a.parquet", t.location + "/data/b.parquet"])
        t.commit()
        self.check_plan(self.path("wh/link"), ["wh/link/data/o.parquet"])

    def mounted(self, t, script, expected=None, code=None, *options):
        """Plan in a mount namespace that a script prepares."""
        if not self.links():
            self.skipTest("no mount namespaces here")
        output = self.path("out.plan")
        words = [scan_world.program.path(), "plan", t.folder, "--json", "-o", output, "--max-share", "1", "--config", self.config(), "--state", self.state]
        text = script + '\nexec "$@"'
        done = subprocess.run(["unshare", "-Urm", "sh", "-ec", text, "sh"] + words + list(options), capture_output=True, text=True, check=False)
        if code:
            self.assertFalse(os.path.exists(output))
            self.assertIn(code, done.stderr)
            return
        self.assertEqual(done.returncode, 0, done.stderr)
        names = [os.fsdecode(u) for u in scan_world.program.read_plan(output)[1]]
        self.assertEqual(names, ["file:" + self.path(n) for n in expected])

    def test_names_through_a_second_mount(self):
        """A part of the table is mounted elsewhere, and the metadata names it there."""
        t = Table(self, "wh/t")
        t.file("data/p/live.parquet")
        t.file("data/o.parquet")
        os.makedirs(self.path("mnt"))
        t.snapshot(["file:" + self.path("mnt/live.parquet"), t.file("data/a.parquet")])
        t.commit()
        self.mounted(t, "mount --bind %s/data/p %s" % (t.folder, self.path("mnt")), ["wh/t/data/o.parquet"])

    def test_names_through_a_mount_inside(self):
        t = Table(self, "wh/t")
        t.file("data/p/live.parquet")
        t.file("data/o.parquet")
        os.makedirs(t.folder + "/data/again")
        t.snapshot([t.location + "/data/again/live.parquet", t.file("data/a.parquet")])
        t.commit()
        self.mounted(t, "mount --bind %s/data/p %s/data/again" % (t.folder, t.folder), ["wh/t/data/o.parquet"])

    def test_a_neighbour_in_a_second_mount(self):
        t = self.table("wh/t", "data/a.parquet")
        t.file("data/sub/n.parquet")
        os.makedirs(self.path("mnt/m"))
        n = Table(self, "wh/n", uuid=UUID_B)
        n.snapshot(["file:" + self.path("mnt/m/n.parquet")])
        n.commit()
        self.directory()
        self.mounted(t, "mount --bind %s/data/sub %s" % (t.folder, self.path("mnt/m")), None, "location.foreign_table")

    def test_a_neighbours_location_in_a_second_mount(self):
        t = self.table("wh/t", "data/a.parquet")
        os.makedirs(t.folder + "/data/sub/tables")
        os.makedirs(self.path("mnt/m"))
        t.file("data/sub/tables/n/data/unseen.parquet")
        n = Table(self, "meta/n", location="file:" + self.path("mnt/m/tables/n"), uuid=UUID_B)
        n.snapshot([], summary={"operation": "append", "total-data-files": "0"}, metadata=self.path("meta/n/metadata"))
        n.snapshots[-1]["manifest-list"] = "file:" + self.path("meta/n/metadata/") + os.path.basename(n.snapshots[-1]["manifest-list"])
        pointer = n.commit()
        self.sqlite([("ns", "n", pointer)])
        self.mounted(t, "mount --bind %s/data/sub %s" % (t.folder, self.path("mnt/m")), None, "location.foreign_table")

    def test_another_file_system_below(self):
        t = self.table("wh/t", "data/a.parquet")
        t.file("data/o.parquet")
        os.makedirs(t.folder + "/data/disk")
        self.mounted(t, "mount -t tmpfs none %s/data/disk; touch -d 2020-01-01 %s/data/disk/x.parquet" % (t.folder, t.folder), ["wh/t/data/o.parquet"])


class Neighbours(World):
    """Other tables."""

    def neighbour(self, folder, *files, uuid=UUID_B, **more):
        return self.table(folder, *files, uuid=uuid, **more)

    def test_inside_in_a_catalog(self):
        t = self.table("wh/t", "data/a.parquet")
        self.neighbour("wh/t/sub/n", "data/b.parquet")
        self.directory()
        self.refused(t, "location.foreign_table", says="files.t.sub.n")

    def test_inside_without_a_catalog(self):
        t = self.table("wh/t", "data/a.parquet")
        self.neighbour("wh/t/sub/n", "data/b.parquet")
        self.refused(t, "location.foreign_uuid", says=(UUID_B, "--dropped"))

    def test_inside_of_version_1_without_uuid(self):
        t = self.table("wh/t", "data/a.parquet")
        self.neighbour("wh/t/sub/n", "data/b.parquet", uuid=None, version=1)
        self.refused(t, "location.foreign_uuid", says="sub/n")

    def test_own_litter_of_version_1_without_uuid(self):
        t = Table(self, "wh/t", uuid=None, version=1)
        t.snapshot([t.file("data/a.parquet")])
        t.commit()
        t.log = []
        t.commit()
        self.check_plan(t, ["wh/t/metadata/v1.metadata.json"])

    def late_uuid(self, n):
        """A document whose uuid stands behind 100 KiB of properties."""
        doc = n.document()
        late = {k: doc.pop(k) for k in ("table-uuid", "location")}
        doc["properties"] = {"comment": "x" * 100000}
        return json.dumps({**doc, **late}).encode()

    def test_uuid_far_into_the_metadata(self):
        t = self.table("wh/t", "data/a.parquet")
        n = Table(self, "wh/t/sub/n", uuid=UUID_B)
        n.snapshot([n.file("data/b.parquet")])
        n.commit(data=self.late_uuid(n))
        self.refused(t, "location.foreign_uuid", says=UUID_B)

    def test_zipped_metadata_without_a_zipped_name(self):
        t = self.table("wh/t", "data/a.parquet")
        n = Table(self, "wh/t/sub/n", uuid=UUID_B)
        n.snapshot([n.file("data/b.parquet")])
        n.commit(data=gzip.compress(self.late_uuid(n)))
        self.refused(t, "location.foreign_uuid", says=UUID_B)

    def test_litter_with_the_name_of_metadata(self):
        t = self.table("wh/t", "data/a.parquet")
        for name, data in (("metadata/x.metadata.json", b"{}"), ("metadata/y.metadata.json", b""), ("data/z.metadata.json", b"\x00\x01"),
                           ("metadata/cut.gz.metadata.json", gzip.compress(b"{}")[:-3])):
            t.file(name, data=data)
        self.check_plan(t, ["wh/t/data/z.metadata.json", "wh/t/metadata/cut.gz.metadata.json", "wh/t/metadata/x.metadata.json",
                            "wh/t/metadata/y.metadata.json"])

    def test_unreadable_metadata_of_another_table(self):
        if os.geteuid() == 0 and not self.links():
            self.skipTest("root reads everything")
        t = self.table("wh/t", "data/a.parquet")
        n = self.neighbour("wh/t/sub/n", "data/b.parquet")
        os.chmod(n.folder + "/metadata/v1.metadata.json", 0)
        done, names, _ = self.plan(t, **({} if os.geteuid() else {"env": {}}))
        if os.geteuid() == 0:
            self.assertIsNone(names)
        self.assertNotEqual(done.status, 0)

    def test_dropped(self):
        t = self.table("wh/t", "data/a.parquet")
        self.neighbour("wh/t/sub/n", "data/b.parquet")
        _, names, _ = self.plan(t, "--dropped", UUID_B.upper())
        self.assertIn("wh/t/sub/n/data/b.parquet", names)

    def test_dropped_but_alive_in_a_catalog(self):
        t = self.table("wh/t", "data/a.parquet")
        self.neighbour("wh/t/sub/n", "data/b.parquet")
        self.directory()
        self.refused(t, "location.foreign_table", "--dropped", UUID_B)

    def test_outer(self):
        """Ours lies in another's folder: what that one references stays."""
        outer = Table(self, "wh/o", uuid=UUID_B)
        t = self.table("wh/o/t", "data/a.parquet")
        t.file("data/o.parquet")
        outer.snapshot([t.file("data/outer.parquet"), outer.file("data/x.parquet")])
        outer.commit()
        self.check_plan(t, ["wh/o/t/data/o.parquet"])
        self.directory()
        self.check_plan(t, ["wh/o/t/data/o.parquet"])

    def test_outer_with_relative_names(self):
        outer = Table(self, "wh/o", uuid=UUID_B)
        t = self.table("wh/o/t", "data/a.parquet")
        t.file("data/o.parquet")
        t.file("data/outer.parquet")
        outer.snapshot(["t/data/outer.parquet"])
        outer.commit()
        self.check_plan(t, ["wh/o/t/data/o.parquet"])

    def test_relative_names_of_a_neighbour_inside(self):
        """The neighbour's location is around nothing of ours, but its relative names climb into it."""
        t = self.table("wh/t", "data/a.parquet")
        t.file("data/n.parquet")
        n = Table(self, "wh/n", uuid=UUID_B)
        n.snapshot(["x/../../t/data/n.parquet"])
        n.commit()
        self.directory()
        self.refused(t, "location.foreign_table")

    def test_table_between_the_location_and_the_scanned_folder(self):
        """--location inside a nested table that no catalog knows."""
        t = self.table("wh/t", "data/a.parquet")
        n = self.neighbour("wh/t/sub/n", "data/b.parquet")
        n.file("data/maybe.parquet")
        done, names, _ = self.plan(t, "--location", t.location + "/sub/n/data")
        self.assertNotIn("wh/t/sub/n/data/b.parquet", names or [], done.err)

    def test_outer_where_the_map_leads_below_itself(self):
        """--map file:/wh=/wh/copy: the outer table must be found by its URI."""
        outer = Table(self, "wh/copy/ns", location="file:" + self.path("wh/ns"), uuid=UUID_B)
        t = Table(self, "wh/copy/ns/t", location="file:" + self.path("wh/ns/t"))
        t.snapshot([t.file("data/a.parquet")])
        t.commit()
        live = t.file("data/outer.parquet")
        t.file("data/o.parquet")
        outer.snapshot([live])
        outer.commit()
        self.check_plan(t, ["wh/ns/t/data/o.parquet"], "--map", "file:%s=%s" % (self.path("wh"), self.path("wh/copy")))

    def test_data_path_of_a_neighbour_inside(self):
        t = self.table("wh/t", "data/a.parquet")
        t.file("shared/x.parquet")
        for prop in ("write.data.path", "write.object-storage.path", "write.folder-storage.path", "write.metadata.path"):
            n = Table(self, "wh/n", uuid=UUID_B, properties={prop: t.location + "/shared"})
            n.snapshot([n.file("data/b.parquet")])
            n.commit()
            self.directory()
            self.refused(t, "location.foreign_table", says="files.n")

    def test_data_of_a_neighbour_inside(self):
        """add_files: a neighbour references a file of ours that we do not reference any more."""
        t = self.table("wh/t", "data/a.parquet")
        n = Table(self, "wh/n", uuid=UUID_B)
        n.snapshot([t.file("data/given.parquet")])
        n.commit()
        self.directory()
        self.refused(t, "location.foreign_table", says="files.n")

    def test_data_of_a_neighbour_through_a_link_of_its_own(self):
        """The neighbour's data folder is a link into our location."""
        t = self.table("wh/t", "data/a.parquet")
        t.file("data/n/b.parquet")
        n = Table(self, "wh/n", uuid=UUID_B)
        os.makedirs(n.folder)
        os.symlink(t.folder + "/data/n", n.folder + "/data")
        n.snapshot([n.location + "/data/b.parquet"])
        n.commit()
        self.directory()
        self.refused(t, "location.foreign_table", says="files.n")

    def test_data_of_a_neighbour_through_a_link_further_down(self):
        t = self.table("wh/t", "data/a.parquet")
        t.file("data/n/b.parquet")
        n = Table(self, "wh/n", uuid=UUID_B)
        os.makedirs(n.folder + "/data/year=2024")
        os.symlink(t.folder + "/data/n", n.folder + "/data/year=2024/month=1")
        n.snapshot([n.location + "/data/year=2024/month=1/b.parquet"])
        n.commit()
        self.directory()
        self.refused(t, "location.foreign_table", says="files.n")

    def test_remembered_data_of_a_neighbour(self):
        """Planned once, the neighbour is remembered; then its folder elsewhere becomes a link into ours."""
        t = self.table("wh/t", "data/a.parquet")
        t.file("data/n/b.parquet")
        n = Table(self, "wh/n", uuid=UUID_B)
        n.snapshot(["file:" + self.path("elsewhere/b.parquet")])
        n.commit()
        self.directory()
        for _ in range(2):
            self.check_plan(t, ["wh/t/data/n/b.parquet"])
        os.symlink(t.folder + "/data/n", self.path("elsewhere"))
        self.refused(t, "location.foreign_table", says="files.n")

    def test_location_of_a_neighbour_is_a_link_inside(self):
        t = self.table("wh/t", "data/a.parquet")
        t.file("sub/data/b.parquet")
        os.symlink(t.folder + "/sub", self.path("n"))
        n = Table(self, "meta/n", location="file:" + self.path("n"), uuid=UUID_B)
        pointer = n.commit()
        self.sqlite([("ns", "n", pointer)])
        self.refused(t, "location.foreign_table", says="sql.ns.n")

    def test_exclude(self):
        t = self.table("wh/t", "data/a.parquet")
        t.file("data/o.parquet")
        n = self.neighbour("wh/t/sub/n", "data/b.parquet")
        self.directory()
        self.check_plan(t, ["wh/t/data/o.parquet"], "--exclude", n.location)
        self.check_plan(t, ["wh/t/data/o.parquet"], "--exclude", t.location + "/sub/")
        self.refused(t, "location.foreign_table", "--exclude", t.location + "/su")

    def test_exclude_spelled_by_another_prefix(self):
        """What is left out of the judgement must be left out of the listing too."""
        t = Table(self, "wh/t", location="s3://b/wh/t")
        t.commit()
        t.file("data/o.parquet")
        n = self.neighbour("wh/t/sub/n", "data/b.parquet", pointer="aaaa")
        self.sqlite([("ns", "n", n.folder + "/metadata/00001-aaaa.metadata.json")])
        options = ["--map", "s3://b/wh=" + self.path("wh")]
        done, names, _ = self.plan(t, "--exclude", "file:" + n.folder, *options)
        if names is not None:
            self.assertEqual(names, ["s3://b/wh/t/data/o.parquet"])
        else:
            self.assertEqual(done.status, 2, done.err)

    def test_exclude_through_a_link(self):
        t = self.table("wh/t", "data/a.parquet")
        t.file("data/o.parquet")
        n = self.neighbour("wh/t/sub/n", "data/b.parquet", pointer="aaaa")
        os.symlink(n.folder, self.path("short"))
        self.sqlite([("ns", "n", n.folder + "/metadata/00001-aaaa.metadata.json")])
        done, names, _ = self.plan(t, "--exclude", "file:" + self.path("short"))
        if names is not None:
            self.assertEqual(names, ["wh/t/data/o.parquet"])
        else:
            self.assertEqual(done.status, 2, done.err)

    def test_exclude_that_excludes_nothing(self):
        """A slip of the pen must show."""
        t = self.table("wh/t", "data/a.parquet")
        self.refused(t, "usage", "--exclude", t.location + "/../u", status=64)

    def test_with(self):
        t = self.table("wh/t", "data/a.parquet")
        n = Table(self, "wh/n", uuid=UUID_B)
        n.snapshot([t.file("data/shared.parquet")])
        n.commit()
        t.file("data/o.parquet")
        self.directory()
        self.refused(t, "location.foreign_table")
        self.check_plan(t, ["wh/t/data/o.parquet"], "--with", "files.n")
        self.check_plan(t, ["wh/t/data/o.parquet"], "--with", n.folder)

    def test_with_of_version_1_without_uuid(self):
        t = self.table("wh/t", "data/a.parquet")
        n = Table(self, "wh/n", uuid=None, version=1)
        n.snapshot([t.file("data/shared.parquet")])
        n.commit()
        t.file("data/o.parquet")
        self.directory()
        self.check_plan(t, ["wh/t/data/o.parquet"], "--with", n.folder)

    def test_with_reads_also(self):
        t = Table(self, "wh/t", location="s3://b/wh/t")
        live = t.file("data/a.parquet")
        t.snapshot([live], metadata=self.path("meta"))
        t.commit()
        n = Table(self, "wh/n", location="s3://b/wh/n", uuid=UUID_B)
        n.snapshot([t.file("data/shared.parquet")], metadata=self.path("meta"))
        n.commit()
        t.file("data/o.parquet")
        self.check_plan(t, ["s3://b/wh/t/data/o.parquet"], "--map", "s3://b/wh=" + self.path("wh"), "--with", n.folder, "--read-also",
                        "file:" + self.path("meta"))

    def test_same_place_two_tables(self):
        """RENAME and a new table under the old name share one folder (also OW7)."""
        x = Table(self, "wh/t", pointer="aaaa")
        x.snapshot([x.file("data/x.parquet")])
        px = x.commit()
        y = Table(self, "wh/t", uuid=UUID_B, pointer="bbbb")
        y.snapshot([y.file("data/y.parquet")])
        py = y.commit()
        x.file("data/o.parquet")
        self.sqlite([("ns", "x", px), ("ns", "y", py)])
        self.refused("sql.ns.x", "location.foreign_table")
        for a, b in (("x", "y"), ("y", "x")):
            self.check_plan("sql.ns." + a, ["wh/t/data/o.parquet"], "--with", "sql.ns." + b)

    def test_same_table_in_two_catalogs(self):
        t = self.table("wh/t", "data/a.parquet", pointer="aaaa")
        t.file("data/o.parquet")
        pointer = t.folder + "/metadata/00001-aaaa.metadata.json"
        self.sqlite([("ns", "t", pointer)], "one")
        self.sqlite([("db", "u", pointer)], "two")
        self.check_plan("one.ns.t", ["wh/t/data/o.parquet"])
        self.assertEqual(self.header["ownership"], "full")

    def test_equal_uuid_with_another_pointer(self):
        t = self.table("wh/t", "data/a.parquet", pointer="aaaa")
        t.file("data/o.parquet")
        first = t.folder + "/metadata/00001-aaaa.metadata.json"
        t.log = []
        t.snapshots = []
        t.snapshot([t.file("data/b.parquet")])
        second = t.commit()
        self.sqlite([("ns", "t", first)], "one")
        self.sqlite([("ns", "t", second)], "two")
        for name in ("one.ns.t", "two.ns.t"):
            done, _ = self.check_plan(name, ["wh/t/data/o.parquet"])
            self.assertIn("also known as", done.err)

    def test_names_of_catalogs_that_read_the_same(self):
        """Namespace a.b and table t, namespace a and table b.t: two tables, one text."""
        t = self.table("wh/t", "data/a.parquet", pointer="aaaa")
        n = self.neighbour("wh/t/sub/n", "data/b.parquet", pointer="bbbb")
        os.rename(n.folder + "/metadata", self.path("away"))
        os.makedirs(n.folder + "/metadata")
        for name in os.listdir(self.path("away")):
            if not name.endswith(".json"):
                os.rename(self.path("away/" + name), n.folder + "/metadata/" + name)
        self.sqlite([("a.b", "t", t.folder + "/metadata/00001-aaaa.metadata.json"), ("a", "b.t", self.path("away/00001-bbbb.metadata.json"))])
        self.refused("sql.a.b.t", "location.foreign_table")

    def test_folders_whose_names_read_the_same(self):
        """wh/a/b/t and wh/a.b/t; the second keeps data in the first."""
        t = self.table("wh/a/b/t", "data/a.parquet")
        n = Table(self, "wh/a.b/t", uuid=UUID_B)
        n.snapshot([t.file("data/n.parquet")])
        n.commit()
        self.directory()
        self.refused(t, "location.foreign_table")
        done, names, _ = self.plan("files.a.b.t")
        self.assertIsNone(names, done.out)

    def test_a_catalog_called_path(self):
        """A table by path is called path.<folder>.<name>: no catalog's table may pass for it."""
        t = self.table("wh/t", "data/a.parquet")
        n = Table(self, "wh/n", uuid=UUID_B, pointer="bbbb")
        n.snapshot([t.file("data/n.parquet")])
        pointer = n.commit()
        self.sqlite([("wh", "t", pointer)], "path")
        done, names, _ = self.plan(t)
        self.assertIsNone(names, done.out)
        self.assertIn(done.status, (2, 64))

    def test_neighbour_with_unreadable_manifests(self):
        """Elsewhere: a warning. Touching: refused."""
        t = self.table("wh/t", "data/a.parquet")
        t.file("data/o.parquet")
        n = Table(self, "wh/n", uuid=UUID_B)
        n.snapshot([n.file("data/b.parquet")])
        n.commit()
        for name in os.listdir(n.folder + "/metadata"):
            if name.endswith(".avro"):
                self.put(n.folder + "/metadata/" + name, b"broken")
        self.directory()
        done, _ = self.check_plan(t, ["wh/t/data/o.parquet"])
        self.assertIn("files.n", done.err)
        self.assertEqual(self.header["ownership"], "metadata")
        outer = Table(self, "wh", uuid="77777777-2222-4333-8444-555555555555")
        outer.snapshot([])
        outer.commit()
        for name in os.listdir(outer.folder + "/metadata"):
            if name.endswith(".avro"):
                self.put(outer.folder + "/metadata/" + name, b"broken")
        self.refused(t, "location.foreign_table", says="can't be read")

    def test_neighbour_without_a_pointer(self):
        """A NNNNN-uuid folder in a directory catalog owns its folder."""
        t = self.table("wh/t", "data/a.parquet")
        self.neighbour("wh/t/sub/n", "data/b.parquet", pointer="bbbb")
        self.directory()
        self.refused(t, "location.foreign_table", says="files.t.sub.n")

    def test_pointer_of_a_missing_file(self):
        """A row whose metadata file is gone owns the folder it names; tables elsewhere go on."""
        t = self.table("wh/t", "data/a.parquet")
        t.file("data/o.parquet")
        self.sqlite([("ns", "gone", self.path("wh/gone/metadata/00001-x.metadata.json")), ("ns", "flat", self.path("wh/flat/00001-x.metadata.json"))])
        self.check_plan(t, ["wh/t/data/o.parquet"])
        self.sqlite([("ns", "inside", t.folder + "/sub/metadata/00001-x.metadata.json")])
        self.refused(t, "location.foreign_table", says="sql.ns.inside")

    def test_copied_folder(self):
        """cp -r t u: u's metadata says that it lives in t."""
        t = self.table("wh/t", "data/a.parquet")
        subprocess.run(["cp", "-rp", t.folder, self.path("wh/u")], check=True)
        self.refused(self.path("wh/u"), "metadata.wrong_place", says="--map")
        t.file("data/o.parquet")
        self.check_plan(t, ["wh/t/data/o.parquet"])
        self.directory()
        self.refused(t, "location.foreign_table", says="files.u")

    def test_moved_folder(self):
        t = self.table("wh/t", "data/a.parquet")
        t.file("data/o.parquet")
        os.rename(t.folder, self.path("wh/u"))
        self.refused(self.path("wh/u"), "metadata.wrong_place", says="--map")
        self.check_plan(self.path("wh/u"), ["wh/t/data/o.parquet"], "--map", "file:%s=%s" % (t.folder, self.path("wh/u")))

    def test_version_1_by_path_and_in_a_catalog(self):
        """Ours has no uuid: its own catalog entry is no neighbour."""
        t = Table(self, "wh/t", uuid=None, version=1)
        t.snapshot([t.file("data/a.parquet")])
        t.commit()
        t.file("data/o.parquet")
        self.directory()
        self.check_plan(t, ["wh/t/data/o.parquet"])
        self.assertEqual(self.header["ownership"], "full")

    def test_bare_neighbour_of_a_table_with_scheme(self):
        """A location without a scheme may mean our storage."""
        t = Table(self, "wh/t", location="hdfs://nn/wh/t")
        t.commit()
        t.file("data/o.parquet")
        n = Table(self, "meta/n", location="/wh/t/sub", uuid=UUID_B)
        pointer = n.commit()
        self.sqlite([("ns", "n", pointer)])
        self.refused(t, "location.foreign_table", "--map", "hdfs://nn/wh=" + self.path("wh"))

    def test_neighbour_with_a_port(self):
        t = Table(self, "wh/t", location="hdfs://nn/wh/t")
        t.commit()
        t.file("data/o.parquet")
        n = Table(self, "meta/n", location="hdfs://nn:8020/wh/t/sub", uuid=UUID_B)
        pointer = n.commit()
        self.sqlite([("ns", "n", pointer)])
        self.refused(t, "location.foreign_table", "--map", "hdfs://nn/wh=" + self.path("wh"))

    def test_equal_paths_in_other_buckets(self):
        t = Table(self, "wh/t", location="s3://prod/wh/t")
        t.commit()
        t.file("data/o.parquet")
        n = Table(self, "meta/n", location="s3://dev/wh/t", uuid=UUID_B)
        pointer = n.commit()
        self.sqlite([("ns", "n", pointer)])
        self.check_plan(t, ["s3://prod/wh/t/data/o.parquet"], "--map", "s3://prod/wh=" + self.path("wh"))

    def test_siblings_with_longer_names(self):
        """OW2, LS4."""
        t = self.table("wh/my_table", "data/a.parquet")
        t.file("data_backup/f.parquet")
        self.neighbour("wh/my_table_secret", "data/b.parquet")
        self.directory()
        self.check_plan(t, ["wh/my_table/data_backup/f.parquet"])


class Pointers(World):
    """Which metadata file is the root."""

    def test_old_metadata_copied_elsewhere(self):
        """An old version saved in another folder knows nothing of newer files."""
        t = self.table("wh/t", "data/a.parquet", pointer="aaaa")
        saved = self.put("saved/00001-aaaa.metadata.json", open(t.folder + "/metadata/00001-aaaa.metadata.json", "rb").read())
        t.snapshots = []
        t.snapshot([t.file("data/b.parquet")])
        t.commit()
        self.refused(saved, "metadata.wrong_place", says="saved")
        self.refused(saved, "metadata.wrong_place", "--location", t.location + "/data")

    def test_metadata_path(self):
        """By hand where write.metadata.path is: the right place."""
        t = Table(self, "wh/t", pointer="aaaa", properties={"write.metadata.path": "file:" + self.path("meta/metadata")})
        t.snapshot([t.file("data/a.parquet")], metadata=self.path("meta/metadata"))
        path = t.commit(self.path("meta/metadata"))
        t.file("data/o.parquet")
        self.check_plan(path, ["wh/t/data/o.parquet"])

    def test_metadata_path_of_another_name(self):
        t = Table(self, "wh/t", pointer="aaaa", properties={"write.metadata.path": "file:" + self.path("meta/x/")})
        t.snapshot([t.file("data/a.parquet")], metadata=self.path("meta/x"))
        path = t.commit(self.path("meta/x"))
        t.file("data/o.parquet")
        self.check_plan(path, ["wh/t/data/o.parquet"])

    def test_not_current(self):
        t = self.table("wh/t", "data/a.parquet", pointer="aaaa")
        first = t.folder + "/metadata/00001-aaaa.metadata.json"
        t.snapshot([t.file("data/b.parquet")])
        t.commit()
        self.refused(first, "metadata.not_current")

    def test_pointer_of_a_folder_from_a_catalog(self):
        """A NNNNN-uuid folder by path: the catalog that knows it gives the pointer."""
        t = self.table("wh/t", "data/a.parquet", pointer="aaaa")
        t.file("data/o.parquet")
        self.refused(t, "metadata.pointer_unknown")
        self.sqlite([("ns", "t", t.folder + "/metadata/00001-aaaa.metadata.json")])
        self.check_plan(t, ["wh/t/data/o.parquet"])
        self.assertEqual(self.header["options"]["table"], "sql.ns.t")

    def test_pointer_of_a_folder_is_not_that_of_a_table_inside(self):
        self.table("wh/t", "data/a.parquet", pointer="aaaa")
        self.table("wh/t/sub/n", "data/b.parquet", pointer="bbbb", uuid=UUID_B)
        self.sqlite([("ns", "n", self.path("wh/t/sub/n/metadata/00001-bbbb.metadata.json"))])
        self.refused(self.path("wh/t"), "metadata.pointer_unknown")

    def test_pointer_of_a_folder_of_two_tables(self):
        x = self.table("wh/t", "data/x.parquet", pointer="aaaa")
        self.table("wh/t", "data/y.parquet", pointer="bbbb", uuid=UUID_B)
        self.sqlite([("ns", "x", x.folder + "/metadata/00001-aaaa.metadata.json"), ("ns", "y", x.folder + "/metadata/00001-bbbb.metadata.json")])
        self.refused(self.path("wh/t"), "metadata.pointer_unknown")

    def test_lagging_hint(self):
        """RO1."""
        t = self.table("wh/t", "data/a.parquet")
        t.snapshot([t.file("data/b.parquet")])
        t.commit()
        self.put(t.folder + "/metadata/version-hint.text", b"1")
        self.check_plan(t, [])

    def test_pipe_with_the_name_of_metadata(self):
        t = self.table("wh/t", "data/a.parquet")
        os.mkfifo(t.folder + "/metadata/x.metadata.json")
        os.mkfifo(t.folder + "/data/y.metadata.json")
        self.check_plan(t, [])
        os.mkfifo(t.folder + "/metadata/v2.metadata.json")
        done, names, _ = self.plan(t, timeout=20)
        self.assertIsNone(names)
        self.assertIn(done.status, (2, 3))

    def test_log(self):
        """A metadata log of 5000 entries, dots in them, and one that climbs above the root."""
        t = self.table("wh/t", "data/a.parquet")
        t.log = [{"timestamp-ms": i, "metadata-file": "%s/metadata/x/.././/old-%d.metadata.json" % (t.location, i)} for i in range(5000)]
        t.file("metadata/old-7.metadata.json", data=b"{}")
        t.file("metadata/old-5000.metadata.json", data=b"{}")
        t.commit()
        self.check_plan(t, ["wh/t/metadata/old-5000.metadata.json", "wh/t/metadata/v1.metadata.json"])
        t.log = [{"timestamp-ms": 1, "metadata-file": "file:/../../x.metadata.json"}]
        t.commit()
        self.refused(t, "location.unsafe")


class Lists(World):
    """Manifest lists and manifests that say too little."""

    def cut(self, summary, **more):
        t = Table(self, "wh/t", **more)
        live = t.file("data/a.parquet")
        t.snapshot([], summary=summary)
        t.commit()
        self.assertTrue(live)
        return t

    def test_empty_list_with_totals(self):
        self.check_plan(self.cut({"operation": "append", "total-data-files": "0"}), ["wh/t/data/a.parquet"])

    def test_empty_list_without_totals(self):
        for operation in ("append", "overwrite", "replace", "delete", ""):
            with self.subTest(operation=operation):
                self.refused(self.cut({"operation": operation} if operation else {}), "metadata.corrupt_manifest_list")

    def test_empty_list_with_greater_total(self):
        self.refused(self.cut({"operation": "append", "total-data-files": "1"}), "metadata.corrupt_manifest_list", says="total-data-files")

    def test_empty_list_with_deletes_only(self):
        self.refused(self.cut({"operation": "append", "total-data-files": "0", "total-delete-files": "2"}), "metadata.corrupt_manifest_list")

    def test_odd_totals(self):
        for value in ("-1", "x", "", " 0", "0x0", "99999999999999999999999"):
            with self.subTest(value=value):
                self.refused(self.cut({"operation": "append", "total-data-files": value}), "metadata.corrupt_manifest_list")

    def test_totals_too_low_warn(self):
        t = Table(self, "wh/t")
        t.snapshot([t.file("data/a.parquet"), t.file("data/b.parquet")], summary={"operation": "append", "total-data-files": "1"})
        t.commit()
        t.file("data/o.parquet")
        done, _ = self.check_plan(t, ["wh/t/data/o.parquet"])
        self.assertIn("total-data-files", done.err)

    def test_second_snapshot_with_the_same_list(self):
        """The list was read for the first; the second says that it should hold more."""
        t = Table(self, "wh/t")
        t.snapshot([t.file("data/a.parquet")], summary={"operation": "append"})
        t.snapshots.append({**t.snapshots[0], "snapshot-id": 2, "summary": {"operation": "append", "total-data-files": "5"}})
        t.commit()
        self.refused(t, "metadata.corrupt_manifest_list")

    def test_counts_of_the_list(self):
        for counts, code in (((2, 0, 0), "metadata.corrupt_manifest"), ((0, 0, 0), None), ((1, 1, 0), "metadata.corrupt_manifest"), ((1, 0, 1), "metadata.corrupt_manifest")):
            with self.subTest(counts=counts):
                t = Table(self, "wh/t")
                t.snapshot([t.file("data/a.parquet")])
                manifest = t.folder + "/metadata/m1-%s.avro" % UUID_A
                self.put(t.folder + "/metadata/snap-1-%s.avro" % UUID_A,
                         scan_world.list_bytes([("file:" + manifest, os.path.getsize(manifest), *counts)]))
                t.commit()
                if code:
                    self.refused(t, code)
                else:
                    self.check_plan(t, [])

    def test_lengths_of_the_list(self):
        t = Table(self, "wh/t")
        t.snapshot([t.file("data/a.parquet")])
        manifest = t.folder + "/metadata/m1-%s.avro" % UUID_A
        for wrong in (-1, 1):
            self.put(t.folder + "/metadata/snap-1-%s.avro" % UUID_A,
                     scan_world.list_bytes([("file:" + manifest, os.path.getsize(manifest) + wrong, 1, 0, 0)]))
            t.commit()
            self.refused(t, "metadata.corrupt_manifest", says="bytes")

    def test_pieces_missing_or_cut(self):
        """PA1, PA6f: each piece of each retained snapshot must be there whole."""
        for kind, missing, corrupt in (("m1", "metadata.missing_manifest", "metadata.corrupt_manifest"),
                                       ("snap-1", "metadata.missing_manifest_list", "metadata.corrupt_manifest_list")):
            t = Table(self, "wh/" + kind)
            t.snapshot([t.file("data/a.parquet")])
            t.snapshot([t.file("data/b.parquet")])
            t.commit()
            path = t.folder + "/metadata/%s-%s.avro" % (kind, UUID_A)
            whole = open(path, "rb").read()
            for n in (0, 3, 10, len(whole) // 2, len(whole) - 16, len(whole) - 1):
                self.put(path, whole[:n])
                with self.subTest(kind=kind, bytes=n):
                    self.refused(t, corrupt)
            self.put(path, whole + b"x")
            self.refused(t, corrupt)
            os.unlink(path)
            self.refused(t, missing)

    def test_deleted_entries(self):
        """RE4."""
        t = Table(self, "wh/t")
        t.snapshot([t.file("data/f2.parquet")], entries=[(2, t.file("data/f1.parquet"))])
        t.commit()
        self.check_plan(t, ["wh/t/data/f1.parquet"])
        self.check_plan(t, [], "--keep-deleted-entries")

    def test_inline_manifests(self):
        """Version 1 without a manifest list."""
        t = Table(self, "wh/t", version=1)
        t.snapshot([t.file("data/a.parquet")])
        t.snapshots[0].pop("manifest-list")
        t.snapshots[0]["manifests"] = [t.location + "/metadata/m1-%s.avro" % UUID_A]
        t.file("data/o.parquet")
        t.commit()
        self.check_plan(t, ["wh/t/data/o.parquet", "wh/t/metadata/snap-1-%s.avro" % UUID_A])
        os.unlink(t.folder + "/metadata/m1-%s.avro" % UUID_A)
        self.refused(t, "metadata.missing_manifest")

    def test_all_snapshots_count(self):
        t = Table(self, "wh/t")
        t.snapshot([t.file("data/a.parquet")])
        t.snapshot([t.file("data/b.parquet")])
        t.snapshot([t.file("data/c.parquet")])
        t.commit()
        t.file("data/o.parquet")
        self.check_plan(t, ["wh/t/data/o.parquet"])

    def test_scheme_of_a_list(self):
        """CR2: a list under another scheme is not opened."""
        t = Table(self, "wh/t", location="s3://b/wh/t")
        t.snapshot([], summary={"total-data-files": "0"})
        t.snapshots[0]["manifest-list"] = "file:/etc/passwd"
        t.commit()
        self.refused(t, "location.unsupported_scheme", "--map", "s3://b/wh=" + self.path("wh"), says="file:/etc/passwd")
        t.snapshots[0]["manifest-list"] = "s3://someone-else/x"
        t.commit()
        self.refused(t, "location.unsupported_scheme", "--map", "s3://b/wh=" + self.path("wh"))

    def test_many_prefixes(self):
        """Up to 256 schemes and authorities; beyond, a refusal that says so."""
        t = Table(self, "wh/t")
        t.file("data/o.parquet")
        t.snapshot([t.file("data/a.parquet")] + ["s3://b%d/x" % i for i in range(255)])
        t.commit()
        self.check_plan(t, ["wh/t/data/o.parquet"])
        t.snapshot([t.file("data/a.parquet")] + ["s3://c%d/x" % i for i in range(3)])
        t.commit()
        self.refused(t, "limit.exceeded", says="256")


class Places(World):
    """--location and what lies below."""

    def test_location_option(self):
        t = self.table("wh/t", "data/a.parquet")
        t.file("data/o.parquet")
        t.file("data2/o2.parquet")
        both = ["wh/t/data/o.parquet", "wh/t/data2/o2.parquet"]
        bare = t.folder
        for given, expected in ((t.location, both), (t.location + "/", both), (t.location + "//", both), (bare, both), ("file://" + bare, both),
                                ("FILE:" + bare, both), (t.location + "/data", both[:1]), (t.location + "//data//", both[:1]),
                                (t.location + "/./data", both[:1])):
            with self.subTest(given=given):
                self.check_plan(t, expected, "--location", given)

    def test_location_outside(self):
        """OW3."""
        t = self.table("wh/t", "data/a.parquet")
        self.table("wh/t2", "data/b.parquet", uuid=UUID_B)
        os.symlink(t.folder, self.path("wh/link"))
        for given in (t.location + "2", t.location + "2/data", "file:" + self.path("wh"), "file:/etc", "s3://lake" + t.folder, "/", "file:///",
                      t.location + "/data/..", t.location + "/../t/data", t.location + "/data/../../t2", "file:" + self.path("wh/link/data"),
                      "data", "./data", "file://localhost" + t.folder):
            with self.subTest(given=given):
                self.refused(t, "location.outside_table", "--location", given, says="location " + given)

    def test_location_that_is_missing(self):
        t = self.table("wh/t", "data/a.parquet")
        error = self.refused(t, "io.not_found", "--location", t.location + "/nothing", status=3)
        self.assertIn(t.location + "/nothing", error["message"])

    def test_location_that_is_a_file_or_link(self):
        t = self.table("wh/t", "data/a.parquet")
        os.symlink("data", t.folder + "/link")
        for name in ("data/a.parquet", "link"):
            done, names, _ = self.plan(t, "--location", t.location + "/" + name)
            self.assertIsNone(names)
            self.assertIn(t.location + "/" + name, done.error()["message"])

    def test_location_of_the_table_is_a_root(self):
        for location in ("file:/", "/", "s3://b", "s3://b/", "file:///"):
            with self.subTest(location=location):
                t = Table(self, "wh/t", location=location)
                t.commit()
                self.refused(t, "location.is_root")

    def test_every_byte_in_names(self):
        t = Table(self, "wh/t")
        live, expected = [], []
        for i in range(1, 256):
            if i == ord("/"):
                continue
            name = os.fsdecode(b"data/n" + bytes([i]) + b"x.parquet")
            t.file(name)
            t.file(name + ".o.parquet")
            expected.append("wh/t/" + name + ".o.parquet")
            if i < 128:
                live.append(t.location + "/" + name)
            else:
                expected.append("wh/t/" + name)
        t.snapshot(live)
        t.commit()
        self.check_plan(t, expected)

    def test_names_that_look_like_others(self):
        """EN3, EN4, EN5, EN7."""
        t = self.table("wh/t", "data/file", "data/region=a%2Fb/c=1/f.parquet", "data/ts=2026-01-05 07%3A30%3A00/f1.parquet")
        strays = ["data/file?.txt", "data/file%3F.txt", "data/file#1", "data/region=a%2Fb/c=1/o.parquet", "data/ts=2026-01-05 07:30:00/f1.parquet",
                  "data/ts=2026-01-05 07%3A30%3A00/o.parquet", "metadata/v1.metadata.json#%2Fx", "data/FILE", "data/file "]
        for name in strays:
            t.file(name)
        self.check_plan(t, ["wh/t/" + n for n in strays])

    def test_hidden(self):
        """HI1, HI2, HI4."""
        t = Table(self, "trash/.trash_db/t")
        t.fields = [{"name": "_c2_trunc", "transform": "truncate[2]", "source-id": 1, "field-id": 1000}]
        t.snapshot([t.file("data/a.parquet")])
        t.commit()
        seen = ["data/_c2_trunc=AA/o.parquet", "data/_c2_trunc=AA/c=1/o.parquet", "data/y.parquet"]
        for name in seen + ["data/_c2_trunc/file.txt", "data/_c2_trunc=AA/c3=A/_SUCCESS", ".trash/2026/x.parquet", "_temporary/0/f.parquet",
                            "data/.ebb-quarantine/r/x.parquet", ".ebb-quarantine/r/y.parquet", "data/_other=1/x.parquet"]:
            t.file(name)
        self.check_plan(t, [t.folder[len(self.top) + 1:] + "/" + n for n in seen])

    def test_own_files_and_unknown_ones_at_the_root(self):
        """OW4."""
        t = self.table("wh/t", "data/a.parquet")
        for name in ("catalog.db", "catalog.db-wal", "p-1.plan", "lock", "orphans.lua", "ebb.db", "data/p-2.plan", "README.md", "part-0"):
            t.file(name)
        t.file("stray.parquet")
        self.check_plan(t, ["wh/t/stray.parquet"])

    def test_state_folder_inside_the_table(self):
        t = self.table("wh/t", "data/a.parquet")
        t.file("data/o.parquet")
        state = t.folder + "/data/state"
        self.plan(t, state=state)
        done = scan_world.program.run(["plan", t.folder, "--json", "--max-share", "1"], self.config(), state)
        self.assertEqual(done.status, 0, done.err)
        for folder, _, names in os.walk(state):
            for name in names:
                os.utime(os.path.join(folder, name), (1, 1000000))
        self.check_plan(t, ["wh/t/data/o.parquet"], state=state)

    def test_deep_folders(self):
        """10,000 folders deep: no recursion, no fixed path length; what no call can name stays."""
        t = self.table("wh/t", "data/a.parquet")
        t.file("data/o.parquet")
        fd = os.open(t.folder + "/data", os.O_RDONLY)
        os.makedirs(t.folder + "/data", exist_ok=True)
        for depth in range(10000):
            os.mkdir("dddd", dir_fd=fd)
            deeper = os.open("dddd", os.O_RDONLY, dir_fd=fd)
            os.close(fd)
            fd = deeper
            if depth in (100, 7000, 9999):
                f = os.open("x.parquet", os.O_CREAT | os.O_WRONLY, dir_fd=fd)
                os.close(f)
                os.utime("x.parquet", (1e9, 1e9), dir_fd=fd)
        os.close(fd)
        self.addCleanup(subprocess.run, ["rm", "-rf", t.folder], check=False)
        done, names, summary = self.plan(t)
        self.assertEqual(done.status, 0, done.err)
        self.assertIn("wh/t/data/o.parquet", names)
        self.assertIn("wh/t/data/" + "dddd/" * 101 + "x.parquet", names)
        self.assertTrue(all(len(n) < 32768 for n in names))
        self.assertGreaterEqual(summary["kept"], 1)

    def test_unreadable_folder(self):
        """LS1."""
        t = self.table("wh/t", "data/a.parquet")
        t.file("data/shut/o.parquet")
        os.chmod(t.folder + "/data/shut", 0)
        if os.geteuid() == 0:
            self.skipTest("root reads everything; see the unit test")
        self.refused(t, "io.permission", status=3)

    def test_many_candidates(self):
        """100,000 candidates with long names: sorted runs spill and merge; memory stays bounded."""
        t = self.table("wh/t", "data/a.parquet")
        folder = t.folder + "/data/" + "long-folder-name-" * 10
        os.makedirs(folder)
        count = 100000
        for i in range(count):
            path = "%s/%05d.parquet" % (folder, i * 7919 % count)
            os.close(os.open(path, os.O_CREAT))
        subprocess.run(["sh", "-c", "find '%s' -type f -print0 | xargs -0 touch -d 2020-01-01" % folder], check=True)
        done, names, summary = self.plan(t)
        self.assertEqual(done.status, 0, done.err)
        self.assertEqual(len(names), count)
        self.assertEqual(summary["candidates"], count)

    def test_nothing_fits(self):
        """Nothing listed is reachable though the table has files: names and place do not fit; the plan is held."""
        t = Table(self, "wh/t", location="s3://b/wh/t")
        t.file("data/a.parquet")
        t.snapshot(["s3://b/other/t/data/a.parquet"])
        t.snapshots[0]["manifest-list"] = t.snapshots[0]["manifest-list"].replace("file:" + t.folder, t.location)
        t.commit()
        _, summary = self.check_plan(t, ["s3://b/wh/t/data/a.parquet"], "--map", "s3://b/wh=" + self.path("wh"), "--read-also", "file:" + t.folder, status=2)
        self.assertEqual(summary["held_by"], ["zero_overlap"])

    def test_layout(self):
        """LY1, LY2: only the location is swept; metadata below data is kept."""
        t = Table(self, "wh/t", pointer="aaaa", properties={"write.data.path": "file:" + self.path("wh/d"), "write.metadata.path": "file:" + self.path("wh/t/data/meta")})
        self.put("wh/d/stray.parquet")
        t.snapshot(["file:" + self.put("wh/d/a.parquet"), t.file("data/b.parquet")], metadata=self.path("wh/t/data/meta"))
        path = t.commit(self.path("wh/t/data/meta"))
        t.file("data/o.parquet")
        self.check_plan(path, ["wh/t/data/o.parquet"])

    def test_gc_enabled(self):
        """OW5."""
        for value in ("FALSE", "False", " false", "0", "no", "", "true "):
            t = Table(self, "wh/t", properties={"gc.enabled": value})
            t.commit()
            self.refused(t, "table.gc_disabled")
        for value in ("true", "TRUE"):
            t = Table(self, "wh/t", properties={"gc.enabled": value})
            t.commit()
            self.plan(t)


class Prefixes(World):
    """Schemes and authorities."""

    def listed(self, location, names, rows, *options, time_ms=None):
        """A table at any location, its metadata mapped, its files from an inventory."""
        t = Table(self, "wh/t", location=location)
        t.snapshot(names)
        for s in t.snapshots:
            s["manifest-list"] = location + "/metadata/" + os.path.basename(s["manifest-list"])
        t.commit()
        old = int((time.time() - 10 * DAY) * 1000)
        rows = list(rows) + [n for n in names if n.endswith("/live.parquet")]
        text = "path\tsize\tmtime\n" + "".join("%s\t1\t%s\n" % (r if isinstance(r, tuple) else (r, old)) for r in rows)
        self.put("list.tsv", text.encode("utf-8", "surrogateescape"))
        return t, ["--listing", self.path("list.tsv"), "--map", "%s=%s" % (location, t.folder)] + list(options)

    def test_px1(self):
        location = "myhdfs://ns1/user/etl/t"
        names = ["hdfs:/user/etl/t/data/p=1/f1.parquet"]
        t, options = self.listed(location, names, [location + "/data/p=1/f1.parquet", location + "/data/p=1/o.parquet"])
        error = self.refused(t, "location.prefix_conflict", *options)
        self.assertIn("(hdfs, myhdfs)", error["message"])
        self.check_plan(t, [location + "/data/p=1/o.parquet"], "--equal-schemes", "myhdfs=hdfs", *options)

    def test_px1_listing_of_another_scheme(self):
        """The listing speaks of the files by another scheme than the table's location."""
        location = "hdfs:/user/etl/t"
        rows = ["myhdfs://ns1/user/etl/t/data/p=1/f1.parquet", "myhdfs://ns1/user/etl/t/data/p=1/o.parquet"]
        t, options = self.listed(location, [location + "/data/p=1/f1.parquet"], rows)
        error = self.refused(t, "location.prefix_conflict", *options)
        self.assertIn("(hdfs, myhdfs)", error["message"])

    def test_px2(self):
        location = "s3a://lake/t"
        t, options = self.listed(location, [location + "/data/a.parquet", "s3n://lake/t/data/b.parquet"],
                                 ["s3://lake/t/data/a.parquet", "s3://lake/t/data/b.parquet", "s3://lake/t/data/o.parquet"])
        self.check_plan(t, ["s3://lake/t/data/o.parquet"], *options)

    def test_px3(self):
        t = Table(self, "wh/t")
        t.file("data/a.parquet")
        t.snapshot(["file://localhost" + t.folder + "/data/a.parquet"])
        t.commit()
        self.assertIn("(localhost, none)", self.refused(t, "location.prefix_conflict")["message"])
        self.check_plan(t, [], "--equal-authorities", "localhost=")
        self.assertIn("(localhost, none)", self.refused(t, "location.prefix_conflict", "--equal-schemes", "localhost=file")["message"])

    def test_px4(self):
        location = "gs://lake/t"
        t, options = self.listed(location, ["s3://lake/t/data/f"], [location + "/data/f"])
        self.refused(t, "location.prefix_conflict", *options)
        self.check_plan(t, [], "--prefix-mismatch", "ignore", *options)
        self.check_plan(t, [location + "/data/f"], "--prefix-mismatch", "delete", *options, status=2)

    def test_px10(self):
        location = "s3://b1/p"
        t, options = self.listed(location, ["s3://b1/p/f", "s3://b2/p/f"], [location + "/f"])
        for mode in ("delete", "ignore", "error"):
            self.check_plan(t, [], "--prefix-mismatch", mode, *options)

    def test_px7(self):
        location = "s3a://lake/ns"
        t, options = self.listed(location, ["data/gr8/obj1"], [location + "/data/gr8/obj1", location + "/data/gr8/obj2"])
        self.check_plan(t, [location + "/data/gr8/obj2"], *options)

    def test_sl1_sl4(self):
        location = "s3://lake/db/t"
        rows = [location + n for n in ("//data/x.parquet", "//data/o.parquet", "/data/a//b.parquet", "/data/a/b.parquet", "/x/../y.parquet", "/z.parquet")]
        t, options = self.listed(location, [location + "//data/x.parquet", location + "/data/a//b.parquet", location + "/y.parquet"], rows)
        self.check_plan(t, [location + "//data/o.parquet", location + "/z.parquet"], *options)

    def test_rows_that_climb_out(self):
        location = "s3://lake/db/t"
        rows = [location + "/../t2/data/f.parquet", location + "/x/../../t2/g.parquet", location + "2/h.parquet", location + "/../../../../x", location,
                location + "/", "s3://lake/db/", location + "/data/o.parquet"]
        t, options = self.listed(location, [location + "/data/live.parquet"], rows)
        self.check_plan(t, [location + "/data/o.parquet"], *options)

    def test_rows_that_repeat(self):
        """The newest time of a name counts; an unknown one is the newest."""
        location = "s3://lake/db/t"
        now, old = int(time.time() * 1000), int((time.time() - 10 * DAY) * 1000)
        rows = []
        for name, times in (("a", (old, now)), ("b", (now, old)), ("c", (old, "")), ("d", ("", old)), ("e", (old, old - 5))):
            rows += [(location + "/data/%s.parquet" % name, t) for t in times]
        t, options = self.listed(location, [location + "/data/live.parquet"], rows)
        self.check_plan(t, [location + "/data/e.parquet"], *options)

    def test_markers(self):
        """LS3."""
        location = "s3://lake/db/t"
        t, options = self.listed(location, [location + "/data/live.parquet"],
                                 [location + "/data/", location + "/data/p=1_$folder$", location + "/x/y/", location + "/data/o.parquet"])
        self.check_plan(t, [location + "/data/o.parquet"], *options)

    def test_times_of_rows(self):
        """TM1."""
        location = "s3://lake/db/t"
        rows = [(location + "/data/%d.parquet" % i, t) for i, t in enumerate(("0", "", "-5", int(time.time() * 1000) - 10000))]
        t, options = self.listed(location, [location + "/data/live.parquet"], rows)
        done, names, _ = self.plan(t, *options)
        self.assertIn(names, (None, []), done.err)

    def test_flink_in_a_listing(self):
        """IF3 with a listing: what uncommitted manifests name is kept too."""
        location = "s3://lake/db/t"
        rows = [location + n for n in ("/data/flink.parquet", "/data/o.parquet", "/metadata/5f3a-00000-1-42-00007.avro", "/metadata/77xb-m0.avro")]
        t, options = self.listed(location, [location + "/data/live.parquet"], rows)
        t.snapshots[0]["summary"]["flink.job-id"] = "5f3a"
        t.commit()
        self.put(t.folder + "/metadata/5f3a-00000-1-42-00007.avro", scan_world.manifest_bytes([(1, location + "/data/flink.parquet")]))
        self.check_plan(t, [location + "/data/o.parquet", location + "/metadata/77xb-m0.avro"], *options)
        self.check_plan(t, [location + "/data/o.parquet"], "--location", location + "/data", *options)
        os.unlink(t.folder + "/metadata/5f3a-00000-1-42-00007.avro")
        self.plan(t, *options)

    def test_links_and_a_listing_of_local_files(self):
        """SL8 with find's output: the file behind a link that the metadata names."""
        t = Table(self, "wh/t")
        t.file("data/real.parquet")
        t.file("data/o.parquet")
        os.symlink("real.parquet", t.folder + "/data/alias.parquet")
        t.snapshot([t.location + "/data/alias.parquet", t.file("data/live.parquet")])
        t.commit()
        old = int((time.time() - 10 * DAY) * 1000)
        self.put("list.tsv", ("path\tsize\tmtime\n" + "".join("%s/data/%s\t1\t%d\n" % (t.location, n, old) for n in ("real.parquet", "o.parquet", "live.parquet"))).encode())
        self.check_plan(t, ["wh/t/data/o.parquet"], "--listing", self.path("list.tsv"))

    def test_foreign_metadata_in_a_listing(self):
        location = "s3://lake/db/t"
        t, options = self.listed(location, [location + "/data/live.parquet"], [location + "/sub/metadata/v1.metadata.json", location + "/sub/data/f.parquet"])
        n = Table(self, "wh/t/sub", location=location + "/sub", uuid=UUID_B)
        n.commit()
        self.refused(t, "location.foreign_uuid", *options)

    def test_excluded_rows(self):
        location = "s3://lake/db/t"
        t, options = self.listed(location, [location + "/data/live.parquet"], ["s3a://lake/db/t//sub/x.parquet", location + "/sub2/y.parquet"])
        self.check_plan(t, [location + "/sub2/y.parquet"], "--exclude", location + "/sub", *options)


class Times(World):
    def test_edge(self):
        """Equal to the cutoff is kept, one millisecond before goes, a nanosecond before within the same millisecond is kept."""
        t = self.table("wh/t", "data/a.parquet")
        cutoff_ns = (int(time.time()) - 5 * DAY) * 10**9
        text = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(cutoff_ns // 10**9))
        for name, ns in (("equal", 0), ("later", 1), ("same-ms", 999999), ("before", -1), ("ms", -1000000)):
            t.file("data/%s.parquet" % name)
            os.utime(t.folder + "/data/%s.parquet" % name, ns=(cutoff_ns + ns, cutoff_ns + ns))
        self.check_plan(t, ["wh/t/data/before.parquet", "wh/t/data/ms.parquet"], "--older-than", text)

    def test_odd_times(self):
        """Zero, negative, the first millisecond, and years beyond 64 bits of nanoseconds."""
        t = self.table("wh/t", "data/a.parquet")
        for name, ns in (("zero", 0), ("negative", -10**15), ("tiny", 5), ("first", 10**6)):
            t.file("data/%s.parquet" % name)
            os.utime(t.folder + "/data/%s.parquet" % name, ns=(ns, ns))
        self.check_plan(t, ["wh/t/data/first.parquet"])
        t.file("data/far.parquet")
        t.file("data/o.parquet")
        os.utime(t.folder + "/data/far.parquet", (253402300000, 253402300000))
        if os.stat(t.folder + "/data/far.parquet").st_mtime < 253402300000:
            return
        done, _ = self.check_plan(t, [])
        self.assertIn("future", done.err)

    def test_skew(self):
        """A time 2 h ahead: the floor grows by as much."""
        t = self.table("wh/t", "data/a.parquet")
        t.file("data/ahead.parquet", age=-2 * 3600)
        t.file("data/o25.parquet", age=25 * 3600)
        t.file("data/o27.parquet", age=27 * 3600)
        done, _ = self.check_plan(t, ["wh/t/data/o27.parquet"], "--older-than", "24h")
        self.assertIn("in the future", done.err)

    def test_small_skew_is_nothing(self):
        t = self.table("wh/t", "data/a.parquet")
        t.file("data/ahead.parquet", age=-120)
        t.file("data/o25.parquet", age=25 * 3600)
        self.check_plan(t, ["wh/t/data/o25.parquet"], "--older-than", "24h")

    def test_cutoffs(self):
        t = self.table("wh/t", "data/a.parquet")
        future = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + 3600))
        for given, code, status in (("0d", "cutoff.below_floor", 2), ("0s", "cutoff.below_floor", 2), ("23h", "cutoff.below_floor", 2),
                                    ("2026-01-10 00:00:00", "time.invalid", 64), (future, "cutoff.future", 2), ("9999-12-31T23:59:59Z", "cutoff.future", 2),
                                    ("-3d", "time.invalid", 64), ("", "time.invalid", 64), ("99999999999d", "time.invalid", 64), 
                                    ("soon", "time.invalid", 64)):
            with self.subTest(given=given):
                done, names, _ = self.plan(t, "--older-than=" + given)
                self.assertIsNone(names)
                if code:
                    self.assertEqual(done.error().get("code"), code, done.err)
                    self.assertEqual(done.status, status)

    def test_written_zero(self):
        t = self.table("wh/t", "data/a.parquet")
        t.file("data/o.parquet", age=60)
        more = "defaults = { allow_below_floor = true }"
        done, names, _ = self.plan(t, "--older-than", "0d", more="")
        self.assertIsNone(names)
        self.assertTrue(more and done)

    def test_age_latest(self):
        """TM4: the latest of all times."""
        t = self.table("wh/t", "data/a.parquet")
        t.file("data/o.parquet")
        self.check_plan(t, [], "--age", "latest")
        self.check_plan(t, ["wh/t/data/o.parquet"], "--age", "mtime")


class Writers(World):
    """Files that are not committed yet."""

    def flink(self, **more):
        t = Table(self, "wh/t", **more)
        t.snapshot([t.file("data/a.parquet")])
        t.snapshots[-1]["summary"]["flink.job-id"] = "5f3a"
        t.snapshot([t.file("data/b.parquet")])
        t.snapshots[-1]["summary"]["flink.job-id"] = "77.b"
        return t

    def test_flink(self):
        """IF3."""
        t = self.flink()
        t.commit()
        t.file("data/waiting.parquet")
        t.file("data/o.parquet")
        self.put(t.folder + "/metadata/5f3a-00000-1-42-00007.avro", scan_world.manifest_bytes([(1, t.location + "/data/waiting.parquet")]))
        t.file("metadata/77.b-00000-1-9-00001.avro")
        t.file("metadata/77xb-m0.avro")
        self.check_plan(t, ["wh/t/data/o.parquet", "wh/t/metadata/77xb-m0.avro"])
        self.check_plan(t, ["wh/t/data/o.parquet"], "--location", t.location + "/data")

    def test_flink_where_the_metadata_path_is(self):
        t = self.flink(pointer="aaaa", properties={"write.metadata.path": "file:" + self.path("wh/t/data/meta")})
        path = t.commit(self.path("wh/t/data/meta"))
        t.file("data/waiting.parquet")
        t.file("data/o.parquet")
        self.put(t.folder + "/data/meta/5f3a-00000-1-42-00007.avro", scan_world.manifest_bytes([(1, t.location + "/data/waiting.parquet")]))
        self.check_plan(path, ["wh/t/data/o.parquet"])

    def test_flink_where_the_metadata_path_is_elsewhere(self):
        t = self.flink(pointer="aaaa", properties={"write.metadata.path": "file:" + self.path("meta")})
        path = t.commit(self.path("meta"))
        t.file("data/waiting.parquet")
        t.file("data/o.parquet")
        self.put("meta/5f3a-00000-1-42-00007.avro", scan_world.manifest_bytes([(1, t.location + "/data/waiting.parquet")]))
        self.check_plan(path, ["wh/t/data/o.parquet"])


class Output(World):
    """The plan file and its record."""

    def test_hash(self):
        import hashlib

        t = self.table("wh/t", "data/a.parquet")
        t.file("data/o.parquet")
        self.plan(t)
        lines = open(self.path("out.plan"), "rb").read().splitlines(keepends=True)
        self.assertEqual(json.loads(lines[-1])["sha256"], hashlib.sha256(b"".join(lines[:-1])).hexdigest())

    def test_no_room(self):
        """A write that fails leaves no file and no record."""
        t = self.table("wh/t", "data/a.parquet")
        for i in range(3000):
            t.file("data/%s-%d.parquet" % ("o" * 100, i))

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100000, 100000))

        os.makedirs(self.path("out"))
        words = [scan_world.program.path(), "plan", t.folder, "--json", "-o", self.path("out/p.plan"), "--config", self.config(), "--state", self.path("small")]
        scan_world.program.run(["plans", "--json"], self.config(), self.path("small"))
        done = subprocess.run(words, preexec_fn=limit, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(os.listdir(self.path("out")), [])
        listed = scan_world.program.run(["plans", "--json"], self.config(), self.path("small"))
        self.assertEqual(listed.out, "")

    def test_output_does_not_replace_what_is_no_plan(self):
        t = self.table("wh/t", "data/a.parquet")
        t.file("data/o.parquet")
        words = ["plan", t.folder, "--json", "--max-share", "1", "-o"]
        done = scan_world.program.run(words + [t.folder + "/data/a.parquet"], self.config(), self.state)
        self.assertNotEqual(done.status, 0)
        self.assertEqual(open(t.folder + "/data/a.parquet", "rb").read(), b"x")
        for _ in range(2):
            done = scan_world.program.run(words + [self.path("again.plan")], self.config(), self.state)
            self.assertEqual(done.status, 0, done.err)

    def test_nothing_is_changed(self):
        t = self.table("wh/t", "data/a.parquet")
        t.file("data/o.parquet")
        before = scan_world.program.tree(self.path("wh"))
        self.check_plan(t, ["wh/t/data/o.parquet"])
        self.assertEqual(scan_world.program.tree(self.path("wh")), before)


if __name__ == "__main__":
    unittest.main()
