package io.seriatim.executor.ir;

import io.seriatim.graph.program.OpDesc;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What an operation touches: for each variable that it reads or writes, the number of the value. */
public final class Access {
    private static final int FEW = 8;

    private final int index;
    private final OpDesc op;
    private final String[] readNames;
    private final int[] reads;
    private final String[] writtenNames;
    private final int[] writes;
    private final boolean runsBlocks;
    /** Only where a search would take long. */
    private final @Nullable Map<String, Integer> manyReads;
    private final @Nullable Map<String, Integer> manyWrites;

    Access(int index, OpDesc op, String[] readNames, int[] reads, String[] writtenNames, int[] writes,
            boolean runsBlocks) {
        this.index = index;
        this.op = op;
        this.readNames = readNames;
        this.reads = reads;
        this.writtenNames = writtenNames;
        this.writes = writes;
        this.runsBlocks = runsBlocks;
        this.manyReads = many(readNames, reads);
        this.manyWrites = many(writtenNames, writes);
    }

    private static @Nullable Map<String, Integer> many(String[] names, int[] values) {
        if (names.length <= FEW) {
            return null;
        }
        Map<String, Integer> map = HashMap.newHashMap(names.length);
        for (int i = 0; i < names.length; i++) {
            map.put(names[i], values[i]);
        }
        return map;
    }

    /** Its place in the block. */
    public int index() {
        return index;
    }

    public OpDesc op() {
        return op;
    }

    /** The values that it reads, those that its blocks read included. Not to be changed. */
    public int[] reads() {
        return reads;
    }

    /** The values that it writes. Not to be changed. */
    public int[] writes() {
        return writes;
    }

    public boolean runsBlocks() {
        return runsBlocks;
    }

    /** The value that it reads of a variable, or −1. */
    public int read(String name) {
        return find(readNames, reads, manyReads, name);
    }

    /** The value that it writes of a variable, or −1. */
    public int written(String name) {
        return find(writtenNames, writes, manyWrites, name);
    }

    private static int find(String[] names, int[] values, @Nullable Map<String, Integer> many, String name) {
        if (many != null) {
            return many.getOrDefault(name, -1);
        }
        for (int i = 0; i < names.length; i++) {
            if (names[i].equals(name)) {
                return values[i];
            }
        }
        return -1;
    }
}
