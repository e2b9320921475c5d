package io.seriatim.engine;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * What one pending future waits for at one moment: the operations at the roots of its sources, and the compositions
 * whose functions have not returned. The sources form an acyclic graph, in which a future needs all its sources or one
 * of two; the graph is walked without recursion, because chains of derived futures may be long.
 */
final class Dependencies {
    /** One pending future of the graph. */
    private static final class Node {
        final EngineFuture<?> future;
        final @Nullable Composition open;
        final List<EngineFuture<?>> sources;
        /** Confined to the constructor. */
        boolean expanded;
        /** Guarded by the tracker lock. */
        boolean blocked;

        Node(EngineFuture<?> future) {
            this.future = future;
            // Before the sources: a stage that is returned in between is in neither if this is read after them.
            open = future.openComposition();
            sources = future.pendingSources();
        }
    }

    private final EngineFuture<?> root;
    private final IdentityHashMap<EngineFuture<?>, Node> nodes = new IdentityHashMap<>(8);
    /** The nodes such that each stands behind its sources. */
    private final List<Node> ordered = new ArrayList<>();
    private final List<OpFuture<?>> futures = new ArrayList<>();
    private final List<Composition> open = new ArrayList<>();
    /** The waiters that {@link #addWaiter} has added, one for each future of the engine. */
    private final List<Waiter> added = new ArrayList<>();
    private final List<OpFuture<?>> addedTo = new ArrayList<>();

    Dependencies(EngineFuture<?> root) {
        this.root = root;
        Deque<Node> path = new ArrayDeque<>();
        path.push(node(root));
        while (!path.isEmpty()) {
            Node node = path.element();
            if (node.expanded) {
                path.remove();
                continue;
            }
            boolean ready = true;
            for (EngineFuture<?> source : node.sources) {
                if (!nodes.containsKey(source)) {
                    path.push(node(source));
                    ready = false;
                }
            }
            if (ready) {
                node.expanded = true;
                path.remove();
                add(node);
            }
        }
    }

    private Node node(EngineFuture<?> future) {
        Node node = new Node(future);
        nodes.put(future, node);
        return node;
    }

    private void add(Node node) {
        ordered.add(node);
        if (node.future instanceof OpFuture<?> future && !future.isSettled()) {
            futures.add(future);
        }
        if (node.open != null) {
            open.add(node.open);
        }
    }

    /** Returns the pending operations' futures. Some of their operations may have ended just now. */
    List<OpFuture<?>> futures() {
        return futures;
    }

    /**
     * Returns the engine to wait on: of a future whose operation has not ended if there is one, or else the one that
     * calls the dependents.
     */
    EngineCore engine() {
        for (OpFuture<?> future : futures) {
            if (!future.isOver()) {
                return future.engine();
            }
        }
        return futures.isEmpty() ? root.engine() : futures.get(0).engine();
    }

    /** Returns whether operations of other engines than the given one are awaited. */
    @SuppressWarnings("ReferenceEquality") // Engines are compared by identity.
    private boolean isShared(EngineCore engine) {
        return futures.stream().anyMatch(future -> !future.isOver() && future.engine() != engine);
    }

    /**
     * Lets changes wake a waiter that waits on the given engine: the return of a composition's function and, if
     * operations of several engines are awaited, the end of one of that engine.
     */
    @SuppressWarnings("ReferenceEquality") // As above.
    void addWaiter(Waiter waiter, EngineCore engine) {
        open.forEach(composition -> composition.addWaiter(waiter));
        if (isShared(engine)) {
            for (OpFuture<?> future : futures) {
                if (!future.isOver() && future.engine() == engine) {
                    Waiter own = new Waiter(waiter);
                    added.add(own);
                    addedTo.add(future);
                    future.addWaiter(own);
                }
            }
        }
    }

    /** Undoes {@link #addWaiter}. */
    void removeWaiter(Waiter waiter) {
        open.forEach(composition -> composition.removeWaiter(waiter));
        for (int i = 0; i < added.size(); i++) {
            addedTo.get(i).removeWaiter(added.get(i));
        }
    }

    /**
     * Returns whether the future can never be done if certain operations never end. A future that needs one of two
     * stages can be done if one of them is not of ours.
     */
    boolean isBlockedBy(Predicate<Operation> never) {
        for (Node node : ordered) {
            Operation op = node.future.operation();
            if (op != null) {
                node.blocked = never.test(op);
            } else if (node.future.needsAllSources()) {
                node.blocked = node.sources.stream().anyMatch(this::isBlocked);
            } else {
                node.blocked = node.sources.size() == 2 && node.sources.stream().allMatch(this::isBlocked);
            }
        }
        return isBlocked(root);
    }

    private boolean isBlocked(EngineFuture<?> future) {
        Node node = nodes.get(future);
        return node != null && node.blocked;
    }

    /** Describes the awaited operations, for messages. */
    String describe() {
        Operation own = root.operation();
        if (own != null) {
            return "the future of operation '" + own.name + "'";
        }
        List<String> names = futures.stream().map(OpFuture::operation).limit(4).map(op -> "'" + op.name + "'").toList();
        return "a future derived from " + (names.isEmpty()
                ? "one of engine '" + root.engine().name + "'"
                : (names.size() == 1 ? "that of operation " : "those of operations ") + String.join(", ", names)
                        + (futures.size() > names.size() ? ", …" : ""));
    }
}
