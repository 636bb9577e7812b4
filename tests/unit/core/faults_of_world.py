"""Faults that the pretended world can suffer, by name: each is a function of the world."""

from collections.abc import Callable

import msgspec

from tests.unit.core.world import World
from tests.unit.core.world_launcher import Launcher
from tests.unit.core.world_parts import Placement

Fault = Callable[[World], None]


def _placement(world: World) -> Placement | None:
    return next(iter(world.placements.values()), None)


def _launcher(world: World, worker: int) -> Launcher | None:
    """None when the API shows no such worker."""
    placement = _placement(world)
    return placement.launchers[worker] if placement and worker not in placement.removed else None


def hang(world: World) -> None:
    """The ranks of worker 1 stop in the next step."""
    launcher = _launcher(world, 1)
    if launcher:
        launcher.hang_at = launcher.step


def freeze(world: World) -> None:
    """The ranks of worker 1 get SIGSTOP."""
    launcher = _launcher(world, 1)
    if launcher:
        launcher.frozen = True


def fail(world: World) -> None:
    """The ranks of worker 0 end with code 1 in the next step."""
    launcher = _launcher(world, 0)
    if launcher:
        launcher.exit_at = launcher.step + 1


def kill_launcher(world: World) -> None:
    """The launcher of worker 1 is killed, and its ranks with it."""
    launcher = _launcher(world, 1)
    if launcher:
        launcher.dead = True


def delete_worker(world: World) -> None:
    """Somebody deletes worker 0."""
    placement = _placement(world)
    if placement:
        placement.deleting.add(0)


def preempt(world: World) -> None:
    """Worker 1 is evicted."""
    placement = _placement(world)
    if placement:
        placement.deleting.add(1)
        placement.disrupted.add(1)


def lose_node(world: World) -> None:
    """The node of worker 1 dies; nobody can ask it."""
    placement, launcher = _placement(world), _launcher(world, 1)
    if placement and launcher:
        placement.silence(1, really_dead=True)


def cut_node(world: World) -> None:
    """The node of worker 1 is cut off from everything, and trains on."""
    placement, launcher = _placement(world), _launcher(world, 1)
    if placement and launcher:
        placement.silence(1, really_dead=False)


def cut_reports(world: World) -> None:
    """The launcher of worker 1 does not reach the operator; its peers do."""
    launcher = _launcher(world, 1)
    if launcher:
        launcher.heard = False


def go_blind(world: World) -> None:
    """Placements cannot be looked at."""
    world.blind = True


def suspend(world: World) -> None:
    """spec.suspend becomes true."""
    _set_suspend(world, True)


def force_delete(world: World) -> None:
    """Somebody deletes the pod of worker 1 by force: the API forgets it, and its processes live on."""
    placement, launcher = _placement(world), _launcher(world, 1)
    if placement and launcher and launcher.reachable:
        placement.removed.add(1)


def slow_down(world: World) -> None:
    """Answers take 3 s and ranks need 4 s to end."""
    for launcher in world.launchers:
        launcher.answers_late, launcher.slow_stop = 3.0, 4.0


def tear(world: World) -> None:
    """Checkpoints are written torn."""
    world.tears = True


def heal(world: World) -> None:
    """Everything outside works again; what is dead stays dead."""
    world.blind = world.tears = False
    _set_suspend(world, False)
    for placement in world.placements.values():
        placement.silent_nodes.clear()
    for launcher in world.everyone:
        launcher.heard, launcher.isolated, launcher.frozen = True, False, False
        launcher.answers_late = launcher.slow_stop = 0.0
    for ghost in world.ghosts:
        # The kubelet hears that its pod is gone.
        ghost.dead = True


def _set_suspend(world: World, value: bool) -> None:
    if world.job is not None:
        spec = msgspec.structs.replace(world.job.spec, suspend=value)
        world.job = msgspec.structs.replace(world.job, spec=spec)


FAULTS: dict[str, Fault] = {
    fault.__name__: fault
    for fault in (hang, freeze, fail, kill_launcher, delete_worker, preempt, lose_node, cut_node, cut_reports, go_blind,
                  suspend, force_delete, slow_down, tear)
}
