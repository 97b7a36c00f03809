# SPDX-License-Identifier: Apache-2.0
"""When triggers fire, found by walking every minute with Python's own zones: slow, and simple enough to be believed. Instants are minutes since the epoch."""

import datetime

EPOCH = datetime.datetime(1970, 1, 1)
UTC = datetime.timezone.utc
DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]


def minute(text):
    at = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return int(at.timestamp()) // 60


def iso(at):
    return (EPOCH + datetime.timedelta(minutes=at)).strftime("%Y-%m-%dT%H:%M:00Z")


class Walls:
    """The wall clock of a zone at each minute of a stretch of time."""

    def __init__(self, zone, start, end):
        self.start = start
        self.wall = []
        for at in range(start, end):
            local = datetime.datetime.fromtimestamp(at * 60, UTC).astimezone(zone).replace(tzinfo=None)
            self.wall.append(int((local - EPOCH).total_seconds()) // 60)

    def at(self, minute_utc):
        return self.wall[minute_utc - self.start]

    def fires(self, is_wanted, named):
        """Minutes at which a calendar fires. named: hours are named, so a wall time counts once, and not at all becomes at once."""
        if not named:
            return {self.start + i for i, wall in enumerate(self.wall) if is_wanted(wall)}
        found = set()
        reached = self.wall[0]
        for i, wall in enumerate(self.wall):
            if any(is_wanted(w) for w in range(reached + 1, wall + 1)):
                found.add(self.start + i)
            reached = max(reached, wall)
        return found


def civil(wall):
    at = EPOCH + datetime.timedelta(minutes=wall)
    return at, at.isoweekday() % 7


def is_quiet(windows, wall):
    """windows: (bits of days, from, to), minutes of the day."""
    _, day = civil(wall)
    now = wall % 1440
    for days, start, end in windows:
        today, yesterday = days >> day & 1, days >> (day + 6) % 7 & 1
        if start == end == 0:
            quiet = today
        elif start < end:
            quiet = today and start <= now < end
        else:
            quiet = (today and now >= start) or (yesterday and now < end)
        if quiet:
            return True
    return False


def walk(triggers, is_held, min_interval, since, count, end):
    """The first `count` fires after `since`: triggers are (fires, late_by or None). A run ends when it starts; what waits when all is free is one fire."""
    told, waiting, last = [], [], None
    ordered = [sorted(fires) for fires, _ in triggers]
    places = [0] * len(triggers)
    for at in range(min([o[0] for o in ordered if o] or [end]), end):
        for i, (_, late_by) in enumerate(triggers):
            fires = ordered[i]
            if places[i] < len(fires) and fires[places[i]] == at:
                places[i] += 1
                following = fires[places[i]] if places[i] < len(fires) else end
                waiting.append(at + late_by if late_by is not None else following)
        waiting = [deadline for deadline in waiting if deadline >= at]
        if not waiting or is_held(at) or (last is not None and at < last + min_interval):
            continue
        waiting = []
        if at > since:
            told.append(at)
            last = at
            if len(told) == count:
                break
    return told
