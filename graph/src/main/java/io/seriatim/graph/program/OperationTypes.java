package io.seriatim.graph.program;

import java.util.List;

/**
 * The questions that descriptions of programs ask about operation types. Schemas are defined in packages above; they
 * answer as a service.
 */
public interface OperationTypes {
    /**
     * Whether there is a type.
     *
     * @param type
     *            any name
     * @return whether programs with it can be run
     */
    boolean isKnown(String type);

    /**
     * Whether operations of a type have an attribute.
     *
     * @param type
     *            any name
     * @param attribute
     *            any name
     * @return false too if the type is not known
     */
    boolean hasAttribute(String type, String attribute);

    /**
     * The output slots whose variables share memory with another variable from an operation on.
     *
     * @param type
     *            any name
     * @return in alphabetical order; empty too if the type is not known
     */
    List<String> aliases(String type);

    /**
     * Those of the process.
     *
     * @return always the same
     */
    static OperationTypes system() {
        return OperationTypesOfProcess.TYPES;
    }
}
