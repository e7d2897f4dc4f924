"""Circles of dependence: the strongly connected parts of a small directed graph, given as lists of successors."""

from collections.abc import Sequence


def bottom_components(edges: Sequence[Sequence[int]]) -> list[list[int]]:
    """The strongly connected components that no edge leaves, each walked along its edges, by their lowest node."""
    components = _components(edges)
    member = {node: number for number, component in enumerate(components) for node in component}
    bottoms = [
        component
        for number, component in enumerate(components)
        if all(member[successor] == number for node in component for successor in edges[node])
    ]
    return sorted((_walk(edges, component) for component in bottoms), key=min)


def reaching(edges: Sequence[Sequence[int]], targets: Sequence[int]) -> list[int]:
    """The other nodes from which a path leads to one of the targets."""
    before: list[list[int]] = [[] for _ in edges]
    for node, successors in enumerate(edges):
        for successor in successors:
            before[successor].append(node)
    found = set(targets)
    pending = list(targets)
    while pending:
        for node in before[pending.pop()]:
            if node not in found:
                found.add(node)
                pending.append(node)
    return sorted(found.difference(targets))


def _walk(edges: Sequence[Sequence[int]], component: Sequence[int]) -> list[int]:
    """The nodes of a component in an order in which, as far as possible, each depends on the next."""
    left = set(component)
    node = min(left)
    order: list[int] = []
    while True:
        order.append(node)
        left.discard(node)
        if not left:
            return order
        node = min((successor for successor in edges[node] if successor in left), default=min(left))


def _components(edges: Sequence[Sequence[int]]) -> list[list[int]]:
    """All strongly connected components, by the path-based algorithm, without recursion."""
    order: dict[int, int] = {}
    done: set[int] = set()
    components: list[list[int]] = []
    for start in range(len(edges)):
        if start in order:
            continue
        path: list[int] = []  # nodes not yet in a component
        boundaries: list[int] = []  # possible first nodes of components on the path
        work: list[tuple[int, int]] = [(start, 0)]
        while work:
            node, position = work.pop()
            if position == 0:
                order[node] = len(order)
                path.append(node)
                boundaries.append(node)
            for following in range(position, len(edges[node])):
                successor = edges[node][following]
                if successor not in order:
                    work += [(node, following + 1), (successor, 0)]
                    break
                if successor not in done:
                    while order[boundaries[-1]] > order[successor]:
                        boundaries.pop()
            else:
                if boundaries[-1] == node:
                    boundaries.pop()
                    component: list[int] = []
                    while not component or component[-1] != node:
                        component.append(path.pop())
                    done.update(component)
                    components.append(component)
    return components
