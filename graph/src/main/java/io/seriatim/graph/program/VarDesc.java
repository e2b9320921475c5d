package io.seriatim.graph.program;

import io.seriatim.tensor.Shape;
import org.jspecify.annotations.Nullable;

/**
 * The description of a variable. Components that a file does not give are null, so that the file is written as it was
 * read.
 *
 * @param name
 *            its name, unique in its block
 * @param type
 *            what it holds
 * @param persistable
 *            whether it outlives a run, as parameters do
 * @param needCheckFeed
 *            whether what is fed must have its shape and type
 * @param isParameter
 *            whether it is trained
 * @param stopGradient
 *            whether no gradient flows through it
 * @param original
 *            what the file that it was read from has beyond this, for instance its attributes, or null
 */
public record VarDesc(String name, VarType type, @Nullable Boolean persistable, @Nullable Boolean needCheckFeed,
        @Nullable Boolean isParameter, @Nullable Boolean stopGradient, @Nullable OriginalMessage original) {
    /** The suffix of the name of a gradient. */
    public static final String GRADIENT_SUFFIX = "@GRAD";

    /**
     * Checks the number of dimensions, for all formats.
     *
     * @throws IllegalArgumentException
     *             if there are more than {@link Shape#MAX_RANK}
     */
    public VarDesc {
        VarType.TensorType tensor = type.tensorType();
        if (tensor != null && tensor.rank() > Shape.MAX_RANK) {
            throw new IllegalArgumentException("Variable '" + name + "' is declared with " + tensor.dims().size()
                    + " dimensions, but a tensor has at most " + Shape.MAX_RANK);
        }
    }

    /**
     * A description that no file was read for.
     *
     * @param name
     *            its name, unique in its block
     * @param type
     *            what it holds
     * @param persistable
     *            whether it outlives a run, as parameters do
     * @param needCheckFeed
     *            whether what is fed must have its shape and type
     * @param isParameter
     *            whether it is trained
     * @param stopGradient
     *            whether no gradient flows through it
     */
    public VarDesc(String name, VarType type, @Nullable Boolean persistable, @Nullable Boolean needCheckFeed,
            @Nullable Boolean isParameter,
            @Nullable Boolean stopGradient) {
        this(name, type, persistable, needCheckFeed, isParameter, stopGradient, null);
    }

    /**
     * A temporary variable.
     *
     * @param name
     *            its name
     * @param type
     *            what it holds
     * @return the description
     */
    public static VarDesc of(String name, VarType type) {
        return new VarDesc(name, type, null, null, null, false);
    }

    /**
     * Whether it outlives a run.
     *
     * @return false unless said
     */
    public boolean isPersistable() {
        return Boolean.TRUE.equals(persistable);
    }

    /**
     * Whether it is trained.
     *
     * @return false unless said
     */
    public boolean isTrained() {
        return Boolean.TRUE.equals(isParameter);
    }

    /**
     * Whether no gradient flows through it.
     *
     * @return false unless said
     */
    public boolean stopsGradient() {
        return Boolean.TRUE.equals(stopGradient);
    }

    /**
     * With another type.
     *
     * @param other
     *            what it holds
     * @return a copy
     */
    public VarDesc with(VarType other) {
        return new VarDesc(name, other, persistable, needCheckFeed, isParameter, stopGradient, original);
    }

    /**
     * A copy with the unknown parts of its message in a file.
     *
     * @param message
     *            the message in the file, or null for nothing
     * @return a copy
     */
    public VarDesc with(@Nullable OriginalMessage message) {
        return new VarDesc(name, type, persistable, needCheckFeed, isParameter, stopGradient, message);
    }

    /**
     * With another name.
     *
     * @param other
     *            its name
     * @return a copy
     */
    public VarDesc named(String other) {
        return new VarDesc(other, type, persistable, needCheckFeed, isParameter, stopGradient, original);
    }

    /**
     * One that outlives a run.
     *
     * @return a copy
     */
    public VarDesc persistent() {
        return new VarDesc(name, type, true, needCheckFeed, isParameter, stopGradient, original);
    }

    /**
     * With or without a gradient through it.
     *
     * @param stop
     *            whether none flows
     * @return a copy
     */
    public VarDesc stopping(boolean stop) {
        return new VarDesc(name, type, persistable, needCheckFeed, isParameter, stop, original);
    }

    /**
     * The tensor's type.
     *
     * @return its element type and dimensions
     * @throws IllegalStateException
     *             if it holds no tensor
     */
    public VarType.TensorType tensor() {
        VarType.TensorType tensor = type.tensorType();
        if (tensor == null) {
            throw new IllegalStateException("Variable '" + name + "' holds no tensor, but " + ProgramText.type(type));
        }
        return tensor;
    }

    @Override
    public String toString() {
        return ProgramText.line(this);
    }
}
