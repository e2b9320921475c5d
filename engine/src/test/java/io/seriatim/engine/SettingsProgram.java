package io.seriatim.engine;

import java.util.concurrent.Callable;
import java.util.function.UnaryOperator;

/**
 * Prints the engines that the settings of the environment make, and those of builders that name a kind or other
 * settings. {@code EnvironmentSettingsTest} runs it in a separate JVM.
 */
final class SettingsProgram {
    private SettingsProgram() {
    }

    public static void main(String[] args) throws Exception {
        print("create", Engine::create);
        print("builder", () -> Engine.builder().build());
        print("two workers", builder -> builder.workers(Lane.CPU, 2));
        print("unchecked", builder -> builder.checked(false));
        print("naive", Engine.Builder::naive);
        print("pooled", builder -> builder.pooled(3));
        print("perDevice", Engine.Builder::perDevice);
        print("shuffled", builder -> builder.shuffled(9));
    }

    private static void print(String label, UnaryOperator<Engine.Builder> settings) throws Exception {
        print(label, () -> settings.apply(Engine.builder()).build());
    }

    private static void print(String label, Callable<Engine> create) throws Exception {
        try (Engine engine = create.call()) {
            Guarded<Integer> value = Guarded.of(engine, "value", 1);
            String text = engine.toString();
            boolean checked = engine.op("op").call(() -> {
                try {
                    return value.get() == 0;
                } catch (IllegalStateException e) {
                    return true;
                }
            }).get();
            System.out.println(label + ": " + text.substring(text.indexOf('(')) + (checked ? " checked" : ""));
        } catch (IllegalArgumentException e) {
            System.out.println(label + ": " + e.getMessage());
        }
    }
}
