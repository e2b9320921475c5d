package io.seriatim.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The settings of engines whose builder names no kind, read from system properties or else from environment variables,
 * so that a deployed program can be debugged without a change. A blank value counts as none.
 */
final class EnvironmentSettings {
    private static final List<String> KINDS = List.of("naive", "pooled", "perDevice", "shuffled", "shuffled:SEED");
    /** The texts that were logged: an application may create thousands of engines. */
    private static final Set<String> LOGGED = ConcurrentHashMap.newKeySet();

    private final Function<String, @Nullable String> properties;
    private final Function<String, @Nullable String> variables;
    /** Each setting that was found, as {@code name=value}. */
    private final List<String> found = new ArrayList<>();

    /** The kind of engine, or null if none is set. */
    private final EngineBuilder.@Nullable Type type;
    private final long seed;
    /** The number of workers, or 0 if none is set. */
    private final int workers;
    private final @Nullable Boolean checked;

    /** One setting: where it was found, and its value. */
    private record Found(String source, String value) {
    }

    /** Reads the settings; throws an {@link IllegalArgumentException} that lists the good values for a bad one. */
    EnvironmentSettings(Function<String, @Nullable String> properties, Function<String, @Nullable String> variables) {
        this.properties = properties;
        this.variables = variables;
        Found kind = find("engine");
        type = kind == null ? null : type(kind);
        seed = kind == null || !kind.value.startsWith("shuffled:") ? 0 : seed(kind);
        Found number = find("workers");
        workers = number == null ? 0 : workers(number);
        Found check = find("checked");
        checked = check == null ? null : checked(check);
    }

    /** Reads the settings of this process. */
    static EnvironmentSettings read() {
        return new EnvironmentSettings(System::getProperty, System::getenv);
    }

    EngineBuilder.@Nullable Type type() {
        return type;
    }

    long seed() {
        return seed;
    }

    int workers() {
        return workers;
    }

    @Nullable
    Boolean checked() {
        return checked;
    }

    /** Writes the settings to the system log, unless this process has already logged the same ones. */
    void log() {
        if (!found.isEmpty()) {
            String text = "engines whose builder names no kind use " + String.join(", ", found);
            if (LOGGED.add(text)) {
                System.getLogger(Engine.class.getName()).log(System.Logger.Level.INFO, text);
            }
        }
    }

    private @Nullable Found find(String name) {
        String property = "seriatim." + name;
        Found setting = found("the system property " + property, property, properties.apply(property));
        if (setting == null) {
            String variable = "SERIATIM_" + name.toUpperCase(Locale.ROOT);
            setting = found("the environment variable " + variable, variable, variables.apply(variable));
        }
        return setting;
    }

    private @Nullable Found found(String source, String name, @Nullable String value) {
        if (value == null || value.isBlank()) {
            return null;
        }
        found.add(name + "=" + value.strip());
        return new Found(source, value.strip());
    }

    private static EngineBuilder.Type type(Found kind) {
        return switch (kind.value) {
            case "naive" -> EngineBuilder.Type.NAIVE;
            case "pooled" -> EngineBuilder.Type.POOLED;
            case "perDevice" -> EngineBuilder.Type.PER_DEVICE;
            case "shuffled" -> EngineBuilder.Type.SHUFFLED;
            default -> {
                if (!kind.value.startsWith("shuffled:")) {
                    throw bad(kind, "one of " + String.join(", ", KINDS));
                }
                yield EngineBuilder.Type.SHUFFLED;
            }
        };
    }

    private static long seed(Found kind) {
        try {
            return Long.parseLong(kind.value.substring("shuffled:".length()));
        } catch (NumberFormatException e) {
            throw bad(kind, "one of " + String.join(", ", KINDS) + ", where SEED is an integer of 64 bits");
        }
    }

    private static int workers(Found number) {
        int n;
        try {
            n = Integer.parseInt(number.value);
        } catch (NumberFormatException e) {
            n = 0;
        }
        if (n < 1) {
            throw bad(number, "an integer from 1 to " + Integer.MAX_VALUE);
        }
        return n;
    }

    private static boolean checked(Found check) {
        return switch (check.value) {
            case "true" -> true;
            case "false" -> false;
            default -> throw bad(check, "true or false");
        };
    }

    private static IllegalArgumentException bad(Found setting, String rule) {
        return new IllegalArgumentException(
                setting.source + " is '" + setting.value + "', but must be " + rule + ": correct it, or unset it");
    }
}
