package io.seriatim.executor;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.WeakHashMap;

/**
 * The set of an executor's reachable plans. Thread-safe. Callers operate on copies of the set, so that no lock is held
 * while a plan frees device memory.
 */
final class LivePlans {
    @GuardedBy("this")
    private final Set<Plan> plans = Collections.newSetFromMap(new WeakHashMap<>());

    synchronized void add(Plan plan) {
        plans.add(plan);
    }

    synchronized List<Plan> all() {
        return List.copyOf(plans);
    }

    synchronized List<Plan> removeAll() {
        List<Plan> all = List.copyOf(plans);
        plans.clear();
        return all;
    }
}
