package io.seriatim.engine;

import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;

/**
 * What all engines promise. Each subclass takes one topic and is run over the engines; after each test every engine
 * that it opened is closed and its invariants are checked. The time limit is a guard against hangs, nothing is
 * measured.
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

    /** What an engine has told of failures that no one observed. */
    Queue<Throwable> unhandled(Engine engine) {
        return engines.unhandled(engine);
    }

    @AfterEach
    @Timeout(value = 60, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void closeAndCheck() throws Exception {
        engines.closeAndCheck();
    }
}
