package io.seriatim.engine;

import io.seriatim.engine.runtime.EngineRuntime;
import java.util.ServiceLoader;

/** Finds the implementation of the API, which lies in packages that import this one. */
final class Implementation {
    /** The only provider. It is a constant, so that the JIT compiler can bind calls to it statically. */
    static final EngineRuntime<Engine.Builder, RunContext, Var> RUNTIME = find();

    private Implementation() {
    }

    @SuppressWarnings("unchecked") // The provider is this module's own.
    private static EngineRuntime<Engine.Builder, RunContext, Var> find() {
        return ServiceLoader.load(EngineRuntime.class, Implementation.class.getClassLoader()).findFirst()
                .orElseThrow(() -> new IllegalStateException("the implementation of io.seriatim.engine is missing: "
                        + "the jar is not complete, or its META-INF/services was left out when it was repacked"));
    }
}
