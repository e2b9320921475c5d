package io.seriatim.spark;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.seriatim.executor.Predictor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A model that all tasks of a JVM share: it is loaded and compiled once, and memory does not grow with the number of
 * tasks. The latest models stay loaded when no task uses them, since the next task will.
 */
final class SharedModel implements AutoCloseable {
    private static final int KEPT = 4;
    private static final ReentrantLock LOCK = new ReentrantLock();
    /** The least recently used first. */
    @GuardedBy("LOCK")
    private static final Map<String, SharedModel> LOADED = new LinkedHashMap<>();

    private final ReentrantLock loading = new ReentrantLock();
    @GuardedBy("LOCK")
    private int users;
    @GuardedBy("loading")
    private @Nullable Predictor predictor;

    private SharedModel() {
    }

    /** Returns the model with these files, which the caller closes after its last run. */
    static SharedModel of(ModelFiles files, String digest, int threads) throws IOException {
        String key = digest + "/" + threads;
        SharedModel model;
        LOCK.lock();
        try {
            SharedModel found = LOADED.remove(key);
            model = found == null ? new SharedModel() : found;
            LOADED.put(key, model);
            model.users++;
        } finally {
            LOCK.unlock();
        }
        boolean isLoaded = false;
        try {
            model.load(files, threads);
            isLoaded = true;
        } finally {
            if (!isLoaded) {
                model.close();
            }
        }
        return model;
    }

    /** One task loads the model, while those that need the same one wait. */
    private void load(ModelFiles files, int threads) throws IOException {
        loading.lock();
        try {
            if (predictor == null) {
                Path folder = Files.createTempDirectory("seriatim-model");
                try {
                    predictor = Predictor.builder(files.unpack(folder)).threads(threads).build();
                } finally {
                    for (String name : files.files().keySet()) {
                        Files.deleteIfExists(folder.resolve(name));
                    }
                    Files.delete(folder);
                }
            }
        } finally {
            loading.unlock();
        }
    }

    Predictor predictor() {
        loading.lock();
        try {
            return Objects.requireNonNull(predictor, "loaded");
        } finally {
            loading.unlock();
        }
    }

    private void unload() {
        loading.lock();
        try {
            if (predictor != null) {
                predictor.close();
                predictor = null;
            }
        } finally {
            loading.unlock();
        }
    }

    /** Returns how many models are loaded, used or not. */
    static int loaded() {
        LOCK.lock();
        try {
            return LOADED.size();
        } finally {
            LOCK.unlock();
        }
    }

    /** Ends one use. */
    @Override
    public void close() {
        LOCK.lock();
        try {
            users--;
            Iterator<SharedModel> oldest = LOADED.values().iterator();
            for (int rest = LOADED.size() - KEPT; rest > 0 && oldest.hasNext();) {
                SharedModel each = oldest.next();
                if (each.users == 0) {
                    oldest.remove();
                    each.unload();
                    rest--;
                }
            }
        } finally {
            LOCK.unlock();
        }
    }
}
