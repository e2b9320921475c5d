package io.seriatim.graph.util;

import org.jspecify.annotations.Nullable;

/** Defects of Java versions that users are to know. */
public final class JavaDefects {
    private static final Runtime.Version MENDED = Runtime.Version.parse("25.0.3");

    private static final class Once {
        static final @Nullable String LOGGED = log();

        private Once() {
        }

        private static @Nullable String log() {
            String defect = of(Runtime.version());
            if (defect != null) {
                System.getLogger(JavaDefects.class.getName()).log(System.Logger.Level.WARNING, defect);
            }
            return defect;
        }
    }

    private JavaDefects() {
    }

    /**
     * Logs a warning if this process runs on a version with a defect, the first time.
     *
     * @return the warning, or null
     */
    public static @Nullable String warn() {
        return Once.LOGGED;
    }

    /**
     * The defect of a version.
     *
     * @param version
     *            a version of Java
     * @return what it is and what to do, or null
     */
    public static @Nullable String of(Runtime.Version version) {
        return version.feature() == MENDED.feature() && version.compareToIgnoreOptional(MENDED) < 0
                ? "Java " + version + " has a defect: the collector G1 may move objects that native code uses"
                        + " (JDK-8377811). Update it to 25.0.3 or newer, or start it with -XX:+UseSerialGC"
                : null;
    }
}
