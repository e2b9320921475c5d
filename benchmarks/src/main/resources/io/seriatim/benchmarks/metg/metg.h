// What the C++ programs share: the table of dependencies, the kernel, the checks of values, and the protocol.
//
// Standard input: the number of threads, the table (TaskGraph.text), then lines "run STEPS ITERATIONS" and
// "peak NANOS".
// Standard output: a line for each, "NANOS ok" or "NANOS wrong", and the floating-point operations per nanosecond.
#pragma once
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

struct Task {
    int weight; // in thousandths of the iterations; negative: there is no task
    std::vector<int> inputs;
};

struct Graph {
    int columns, prologue, period;
    std::vector<std::vector<Task>> rows;

    int row(long step) const { return step < prologue ? step : prologue + (step - prologue) % period; }
    const Task& at(long step, int column) const { return rows[row(step)][column]; }
    int64_t value(long step, int column) const { return step * columns + column + 1; }
};

struct alignas(64) Tally {
    int64_t count = 0;
    uint64_t checksum = 0;
};

// The peak is that of the code that tasks run: inlined, the compiler made it several times faster in some places.
#if defined(__GNUC__) && !defined(__clang__)
#define ONE_CODE __attribute__((noipa))
#else
#define ONE_CODE __attribute__((noinline))
#endif

static const int LENGTH = 64;
ONE_CODE static void kernel(double* buffer, long iterations) {
    for (long n = 0; n < iterations; n++)
        for (int i = 0; i < LENGTH; i++) buffer[i] = std::fma(buffer[i], 0.999999, 1e-6);
}
static thread_local double buffer[LENGTH];
static inline uint64_t mixed(uint64_t value) { return value * (value ^ 0x9e3779b97f4a7c15ULL); }

struct Run {
    const Graph& graph;
    long steps, iterations;
    std::vector<Tally> tallies;
    std::atomic<bool> wrong{false};

    Run(const Graph& g, long s, long i, int threads) : graph(g), steps(s), iterations(i), tallies(threads) {}
    void input(long step, int input, int64_t found) {
        if (found != graph.value(step - 1, input)) wrong = true;
    }
    int64_t execute(long step, int column, const Task& task, int thread) {
        kernel(buffer, iterations * task.weight / 1000);
        int64_t value = graph.value(step, column);
        tallies[thread].count++;
        tallies[thread].checksum += mixed(value);
        return value;
    }
    bool right() const {
        int64_t count = 0;
        uint64_t checksum = 0;
        for (const Tally& each : tallies) count += each.count, checksum += each.checksum;
        for (long step = 0; step < steps; step++)
            for (int column = 0; column < graph.columns; column++)
                if (graph.at(step, column).weight >= 0) count--, checksum -= mixed(graph.value(step, column));
        return !wrong && count == 0 && checksum == 0;
    }
};

static int64_t now() {
    auto time = std::chrono::steady_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

static double peak(int threads, int64_t nanos) {
    std::atomic<int> ready{0};
    std::atomic<int64_t> iterations{0}, longest{1};
    std::vector<std::thread> all;
    for (int k = 0; k < threads; k++)
        all.emplace_back([&] {
            ready++;
            while (ready < threads) std::this_thread::yield();
            int64_t begin = now(), done = 0, time;
            do {
                kernel(buffer, 1000);
                done += 1000;
                time = now() - begin;
            } while (time < nanos);
            iterations += done;
            for (int64_t seen = longest; seen < time && !longest.compare_exchange_weak(seen, time);) {}
        });
    for (std::thread& each : all) each.join();
    return double(iterations) * 2 * LENGTH / double(longest);
}

// system(Run&, threads) runs the tasks and returns when all have ended.
template <class System> static int serve(int threads, System system) {
    Graph graph;
    if (std::scanf("%d %d %d", &graph.columns, &graph.prologue, &graph.period) != 3) return 2;
    graph.rows.resize(graph.prologue + graph.period);
    for (auto& row : graph.rows)
        for (int column = 0; column < graph.columns; column++) {
            Task task;
            int inputs = 0;
            if (std::scanf("%d", &task.weight) != 1) return 2;
            if (task.weight >= 0 && std::scanf("%d", &inputs) != 1) return 2;
            for (int i = 0, input; i < inputs; i++) {
                if (std::scanf("%d", &input) != 1) return 2;
                task.inputs.push_back(input);
            }
            row.push_back(task);
        }
    char command[16];
    while (std::scanf("%15s", command) == 1) {
        if (!std::strcmp(command, "run")) {
            long steps, iterations;
            if (std::scanf("%ld %ld", &steps, &iterations) != 2) return 2;
            Run run(graph, steps, iterations, threads);
            int64_t begin = now();
            system(run);
            int64_t time = now() - begin;
            std::printf("%lld %s\n", (long long) time, run.right() ? "ok" : "wrong");
        } else if (!std::strcmp(command, "peak")) {
            long nanos;
            if (std::scanf("%ld", &nanos) != 1) return 2;
            std::printf("%.9f\n", peak(threads, nanos));
        } else {
            return 2;
        }
        std::fflush(stdout);
    }
    return 0;
}
