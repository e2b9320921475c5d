package io.seriatim.graph.program;

import java.util.ServiceLoader;

/** Found when they are asked for first. */
final class OperationTypesOfProcess {
    static final OperationTypes TYPES = ServiceLoader.load(OperationTypes.class, OperationTypes.class.getClassLoader())
            .findFirst()
            .orElseThrow(() -> new IllegalStateException(
                    "No operation types were found as a service: put all of seriatim-graph on the class or module "
                            + "path"));

    private OperationTypesOfProcess() {
    }
}
