package io.seriatim.graph.program;

import io.seriatim.graph.util.Utf8;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Operations in order, and the variables that are declared with them. A block sees its parent's variables. Not for
 * several threads at once while it is changed.
 */
public final class Block {
    /** The parent of the first block. */
    public static final int NONE = -1;

    private final Program program;
    private final int index;
    private final int parent;
    private final @Nullable Integer forward;
    private @Nullable OriginalMessage original;
    private final Map<String, VarDesc> vars = new LinkedHashMap<>();
    private final List<OpDesc> ops = new ArrayList<>();

    Block(Program program, int index, int parent, @Nullable Integer forward) {
        this.program = program;
        this.index = index;
        this.parent = parent;
        this.forward = forward;
    }

    /**
     * The program that it belongs to.
     *
     * @return always the same
     */
    public Program program() {
        return program;
    }

    /**
     * Its number in the program.
     *
     * @return from 0
     */
    public int index() {
        return index;
    }

    /**
     * The number of its parent.
     *
     * @return {@link #NONE} for the first block
     */
    public int parent() {
        return parent;
    }

    /**
     * The number of the block whose gradient it is.
     *
     * @return {@link #NONE} if it is none
     */
    public int forward() {
        return forward == null ? NONE : forward;
    }

    /**
     * The number of the block whose gradient it is, as the file says it.
     *
     * @return null if the file does not say
     */
    public @Nullable Integer forwardAsWritten() {
        return forward;
    }

    /**
     * The parts of its message in the file other than variables and operations.
     *
     * @return null if it has no more, or if it was not read from a file
     */
    public @Nullable OriginalMessage original() {
        return original;
    }

    /**
     * Sets what a file has besides variables and operations.
     *
     * @param message
     *            the rest of the message in the file, or null for nothing
     * @return this
     */
    public Block original(@Nullable OriginalMessage message) {
        program.modified();
        original = message;
        return this;
    }

    /**
     * The variables declared here.
     *
     * @return in order
     */
    public Collection<VarDesc> vars() {
        return Collections.unmodifiableCollection(vars.values());
    }

    /**
     * The operations.
     *
     * @return in order
     */
    public List<OpDesc> ops() {
        return Collections.unmodifiableList(ops);
    }

    /**
     * A variable declared here.
     *
     * @param name
     *            its name
     * @return null if it is not declared here
     */
    public @Nullable VarDesc var(String name) {
        return vars.get(name);
    }

    /**
     * A variable declared here or in a parent.
     *
     * @param name
     *            its name
     * @return null if there is none
     */
    public @Nullable VarDesc find(String name) {
        Block owner = owner(name);
        return owner == null ? null : owner.vars.get(name);
    }

    /**
     * The block that declares a variable: this, a parent, or, for the block of a gradient, that whose gradient it is.
     *
     * @param name
     *            its name
     * @return null if there is none
     */
    public @Nullable Block owner(String name) {
        if (vars.containsKey(name)) {
            return this;
        }
        Block above = parent == NONE ? null : program.block(parent).owner(name);
        return above == null && forward() != NONE ? program.block(forward()).owner(name) : above;
    }

    /**
     * A variable declared here or in a parent.
     *
     * @param name
     *            its name
     * @return its description
     * @throws IllegalArgumentException
     *             if there is none
     */
    public VarDesc get(String name) {
        VarDesc found = find(name);
        if (found == null) {
            throw new IllegalArgumentException(
                    "There is no variable '" + name + "' in block " + index + " or above it; declare it first");
        }
        return found;
    }

    /**
     * Declares a variable, or replaces its description.
     *
     * @param desc
     *            its description
     * @return this
     */
    public Block put(VarDesc desc) {
        program.modified();
        vars.put(desc.name(), desc);
        return this;
    }

    /**
     * Takes a variable away.
     *
     * @param name
     *            its name
     * @return this
     */
    public Block remove(String name) {
        program.modified();
        vars.remove(name);
        return this;
    }

    /**
     * Adds an operation at the end, as it is: nothing is inferred.
     *
     * @param op
     *            its description
     * @return this
     */
    public Block add(OpDesc op) {
        program.modified();
        ops.add(op);
        return this;
    }

    /**
     * Adds an operation in front of another.
     *
     * @param at
     *            the place that it takes
     * @param op
     *            its description
     * @return this
     */
    public Block add(int at, OpDesc op) {
        if (at < 0 || at > ops.size()) {
            throw new IllegalArgumentException(
                    "An operation is added at a place from 0 to " + ops.size() + ", but not at " + at);
        }
        program.modified();
        ops.add(at, op);
        return this;
    }

    /**
     * Replaces an operation.
     *
     * @param at
     *            its place
     * @param op
     *            the new description
     * @return this
     */
    public Block set(int at, OpDesc op) {
        if (at < 0 || at >= ops.size()) {
            throw new IllegalArgumentException(
                    "Block " + index + " has " + ops.size() + " operations, and none at " + at + " to be replaced");
        }
        program.modified();
        ops.set(at, op);
        return this;
    }

    /**
     * Replaces all operations.
     *
     * @param all
     *            the new ones, in order
     * @return this
     */
    public Block setOps(List<OpDesc> all) {
        List<OpDesc> copy = List.copyOf(all);
        program.modified();
        ops.clear();
        ops.addAll(copy);
        return this;
    }

    /** Puts the variables in the order in which Paddle writes them. */
    public void sortVars() {
        List<VarDesc> sorted = new ArrayList<>(vars.values());
        sorted.sort(Comparator.comparing(VarDesc::name, Utf8.ORDER));
        program.modified();
        vars.clear();
        sorted.forEach(this::put);
    }

    @Override
    public String toString() {
        return ProgramText.of(this);
    }
}
