package io.seriatim.engine;

import java.util.Arrays;

/**
 * Checks that one total order of all pushes explains a run. Each operation records, while it holds its variables, its
 * position in the history of each variable. A total order exists if these histories and the push order of each thread
 * have no cycle, so that the operations can be removed one by one in a topological order.
 */
final class Witness {
    private final int perThread;
    private final int varsPerOperation;
    /** The number of mutations of each variable; guarded by the variable. */
    private final int[] mutations;
    /**
     * For each operation and each of its variables, the variable and its position: 2m for a read after m mutations,
     * 2m+1 for the next mutation, -1 for no access.
     */
    private final int[] var;
    private final int[] point;
    private final int threads;

    Witness(int threads, int perThread, int varsPerOperation, int vars) {
        this.threads = threads;
        this.perThread = perThread;
        this.varsPerOperation = varsPerOperation;
        mutations = new int[vars];
        var = new int[threads * perThread * varsPerOperation];
        point = new int[var.length];
        Arrays.fill(var, -1);
    }

    /** Records an access; called in the body of a thread's i-th operation for its j-th variable. */
    void read(int thread, int i, int j, int v) {
        note(thread, i, j, v, 2 * mutations[v]);
    }

    void mutate(int thread, int i, int j, int v) {
        note(thread, i, j, v, 2 * mutations[v]++ + 1);
    }

    private void note(int thread, int i, int j, int v, int at) {
        int access = (thread * perThread + i) * varsPerOperation + j;
        var[access] = v;
        point[access] = at;
    }

    /**
     * Removes the operations in a topological order; returns a description of the cycle, or an empty string if an order
     * exists.
     */
    String stuck() {
        int[][] left = new int[mutations.length][];
        for (int v = 0; v < left.length; v++) {
            left[v] = new int[2 * mutations[v] + 2];
        }
        for (int access = 0; access < var.length; access++) {
            if (var[access] >= 0) {
                left[var[access]][point[access]]++;
            }
        }
        int[] front = new int[mutations.length];
        int[] next = new int[threads];
        boolean going = true;
        while (going) {
            going = false;
            for (int t = 0; t < threads; t++) {
                while (next[t] < perThread && takeAway(t * perThread + next[t], left, front)) {
                    next[t]++;
                    going = true;
                }
            }
        }
        StringBuilder stuck = new StringBuilder();
        for (int t = 0; t < threads; t++) {
            if (next[t] < perThread) {
                stuck.append("operation ").append(next[t]).append(" of thread ").append(t).append(" has no place; ");
            }
        }
        return stuck.toString();
    }

    private boolean takeAway(int operation, int[][] left, int[] front) {
        int from = operation * varsPerOperation;
        for (int access = from; access < from + varsPerOperation; access++) {
            if (var[access] >= 0) {
                int[] points = left[var[access]];
                while (points[front[var[access]]] == 0) {
                    front[var[access]]++;
                }
                if (front[var[access]] != point[access]) {
                    return false;
                }
            }
        }
        for (int access = from; access < from + varsPerOperation; access++) {
            if (var[access] >= 0) {
                left[var[access]][point[access]]--;
            }
        }
        return true;
    }
}
