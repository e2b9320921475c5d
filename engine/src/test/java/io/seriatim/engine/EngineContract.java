package io.seriatim.engine;

import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;

/**
 * The contract of all engines. Each subclass covers one topic and runs on every kind of engine. After each test the
 * engines that it opened are closed and their invariants checked. The time limit only guards against hangs.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class EngineContract {
    @Parameter
    @SuppressWarnings("NullAway.Init")
    EngineUnderTest kind;

    private final OpenEngines engines = new OpenEngines();

    /** Opens an engine of the kind under test. */
    Engine open() {
        return open(builder -> builder);
    }

    /** Opens an engine of the kind under test, with further settings. */
    Engine open(UnaryOperator<Engine.Builder> settings) {
        return engines.open(settings.apply(kind.builder()));
    }

    /** Returns the failures that an engine has passed to its handler of unhandled failures. */
    Queue<Throwable> unhandled(Engine engine) {
        return engines.unhandled(engine);
    }

    @AfterEach
    @Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void closeAndCheck() throws Exception {
        engines.closeAndCheck();
    }
}
