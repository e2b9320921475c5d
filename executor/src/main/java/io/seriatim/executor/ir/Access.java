package io.seriatim.executor.ir;

import io.seriatim.graph.op.Operation;
import io.seriatim.graph.op.Operations;
import io.seriatim.graph.program.Aliases;
import io.seriatim.graph.program.OpDesc;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The values that an operation reads and writes. Each variable that it names is mapped to the number of a value. */
public final class Access {
    private static final int FEW = 8;

    private final int index;
    private final OpDesc op;
    private final String[] readNames;
    private final int[] reads;
    private final String[] writtenNames;
    private final int[] writes;
    private final boolean runsBlocks;
    private final @Nullable Operation schema;
    private final PlaceRequest placeRequest;
    private final boolean makesAliases;
    /** Null for operations with few variables, for which a linear search is fast. */
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
        this.schema = Operations.system().find(op.type());
        this.placeRequest = PlaceRequest.of(op);
        this.makesAliases = !Aliases.made(op).isEmpty();
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

    /** Returns the index of the operation in its block. */
    public int index() {
        return index;
    }

    public OpDesc op() {
        return op;
    }

    /**
     * Returns the values that the operation and its blocks read, and those that its blocks may write and that have an
     * earlier value: it stays if they do not run. The array must not be modified.
     */
    public int[] reads() {
        return reads;
    }

    /** Returns the values that the operation and its blocks write. The array must not be modified. */
    public int[] writes() {
        return writes;
    }

    public boolean runsBlocks() {
        return runsBlocks;
    }

    /** Returns the schema of the operation; null if its type is not known. */
    public @Nullable Operation schema() {
        return schema;
    }

    /** Returns whether the operation is known and has no effects: neither side effects nor random numbers. */
    public boolean isPure() {
        return schema != null && schema.effects().isEmpty();
    }

    /** Returns the device and stream that the operation requests. */
    public PlaceRequest placeRequest() {
        return placeRequest;
    }

    /** Returns whether the operation makes variables share memory. */
    public boolean makesAliases() {
        return makesAliases;
    }

    /** Returns the value that the operation reads from a variable, or −1. */
    public int read(String name) {
        return find(readNames, reads, manyReads, name);
    }

    /** Returns the value that the operation writes to a variable, or −1. */
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
