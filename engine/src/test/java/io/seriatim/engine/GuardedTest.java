package io.seriatim.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import org.junit.jupiter.api.Test;

/** Guarded values, and the mode that checks their uses. */
@EveryEngine
class GuardedTest extends EngineContract {
    private Engine openChecked() {
        return open(builder -> builder.checked(true));
    }

    @Test
    void declaredUsesAreAllowed() throws Exception {
        Engine engine = openChecked();
        Guarded<Integer> a = Guarded.of(engine, "a", 1);
        Guarded<Integer> b = Guarded.of(engine, "b", 0);
        engine.op("read").reads(a.var()).mutates(b.var()).submit(() -> b.set(b.get() + a.get())).get();
        engine.op("overwrite").overwrites(b.var()).submit(() -> b.set(b.get() + 1)).get();
        engine.op("both").reads(a.var()).mutates(a.var()).submit(() -> a.set(7)).get();
        engine.waitToRead(b.var());
        assertEquals(2, b.get());
        assertEquals(7, a.get());
        assertEquals("a", a.var().name());
        assertSame(a.var(), a.var());
    }

    @Test
    void anUndeclaredReadNamesOperationAndVariable() throws Exception {
        Engine engine = openChecked();
        Guarded<String> a = Guarded.of(engine, "aaa", "value");
        Var other = engine.newVar("other");
        engine.op("careless").reads(other)
                .submit(() -> TestSupport.assertThrowsMentioning(IllegalStateException.class, a::get, "careless", "aaa",
                        "reads"))
                .get();
    }

    @Test
    void anUndeclaredMutationNamesOperationAndVariable() throws Exception {
        Engine engine = openChecked();
        Guarded<String> a = Guarded.of(engine, "aaa", "value");
        engine.op("reader").reads(a.var())
                .submit(() -> TestSupport.assertThrowsMentioning(IllegalStateException.class, () -> a.set("x"),
                        "reader", "aaa", "mutates"))
                .get();
        engine.op("stranger")
                .submit(() -> TestSupport.assertThrowsMentioning(IllegalStateException.class, () -> a.set("x"),
                        "stranger", "aaa"))
                .get();
        assertEquals("value", a.get());
    }

    @Test
    void anUndeclaredUseFailsTheOperation() throws Exception {
        Engine engine = openChecked();
        Guarded<String> a = Guarded.of(engine, "aaa", "value");
        Var v = engine.newVar("v");
        engine.op("careless").mutates(v).push(() -> a.set("x"));
        engine.waitToWrite(v);
        Throwable failure = engine.failure(v);
        TestSupport.assertMentions(failure == null ? new AssertionError("no failure") : failure, "careless", "aaa");
    }

    @Test
    void asynchronousBodiesAreCheckedWhileTheyStart() throws Exception {
        Engine engine = openChecked();
        Guarded<Integer> a = Guarded.of(engine, "aaa", 1);
        engine.op("starts").mutates(a.var()).pushAsync(done -> {
            a.set(2);
            done.complete();
        });
        engine.waitToRead(a.var());
        assertEquals(2, a.get());
    }

    @Test
    void outsideAnyOperationUsesAreUncheckedAndDoNotWait() throws Exception {
        Engine engine = openChecked();
        Guarded<Integer> a = Guarded.of(engine, "a", 1);
        a.set(5);
        assertEquals(5, a.get());
        Engine other = openChecked();
        other.op("of another engine").submit(() -> assertEquals(5, a.get())).get();
    }

    @Test
    void withoutCheckedModeNothingIsChecked() throws Exception {
        Engine engine = open();
        Guarded<Integer> a = Guarded.of(engine, "a", 1);
        engine.op("careless").submit(() -> a.set(a.get() + 1)).get();
        assertEquals(2, a.get());
    }

    @Test
    void anInnerOperationIsNotCoveredByTheOuter() throws Exception {
        Engine engine = openChecked();
        Guarded<Integer> a = Guarded.of(engine, "aaa", 1);
        engine.op("outer").mutates(a.var()).submit(() -> {
            engine.op("inner").submit(
                    () -> TestSupport.assertThrowsMentioning(IllegalStateException.class, a::get, "inner", "aaa"))
                    .get();
            a.set(a.get() + 1);
        }).get();
        assertEquals(2, a.get());
    }
}
