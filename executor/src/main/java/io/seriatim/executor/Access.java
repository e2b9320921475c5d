package io.seriatim.executor;

import io.seriatim.graph.OpDesc;

/** What an operation touches: for each variable that it reads or writes, the number of the value. */
final class Access {
    private final int index;
    private final OpDesc op;
    private final String[] readNames;
    private final int[] reads;
    private final String[] writtenNames;
    private final int[] writes;
    private final boolean runsBlocks;

    Access(int index, OpDesc op, String[] readNames, int[] reads, String[] writtenNames, int[] writes, boolean runsBlocks) {
        this.index = index;
        this.op = op;
        this.readNames = readNames;
        this.reads = reads;
        this.writtenNames = writtenNames;
        this.writes = writes;
        this.runsBlocks = runsBlocks;
    }

    /** Its place in the block. */
    int index() {
        return index;
    }

    OpDesc op() {
        return op;
    }

    /** The values that it reads, those that its blocks read included. Not to be changed. */
    int[] reads() {
        return reads;
    }

    /** The values that it writes. Not to be changed. */
    int[] writes() {
        return writes;
    }

    boolean runsBlocks() {
        return runsBlocks;
    }

    /** The value that it reads of a variable, or −1. */
    int read(String name) {
        return find(readNames, reads, name);
    }

    /** The value that it writes of a variable, or −1. */
    int written(String name) {
        return find(writtenNames, writes, name);
    }

    private static int find(String[] names, int[] values, String name) {
        for (int i = 0; i < names.length; i++) {
            if (names[i].equals(name)) {
                return values[i];
            }
        }
        return -1;
    }
}
