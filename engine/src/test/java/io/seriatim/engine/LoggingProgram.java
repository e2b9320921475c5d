package io.seriatim.engine;

/**
 * Closes two engines with unobserved failures: one with the default handler, one whose handler throws. {@link LifeTest}
 * runs it in a separate JVM.
 */
final class LoggingProgram {
    private LoggingProgram() {
    }

    public static void main(String[] args) {
        close(Engine.builder().name("default"), "default");
        close(Engine.builder().name("throwing").onUnhandled(t -> {
            throw new Planted("handler");
        }), "throwing");
        System.out.println("closed both");
    }

    private static void close(Engine.Builder builder, String name) {
        Engine engine = builder.build();
        engine.op("fails").push(TestSupport.failing(new Planted("planted in " + name)));
        engine.close();
    }
}
