// OpenMP tasks with `depend`: a value is stored in one of two places of its column, in turn.
#include "metg.h"
#include <omp.h>

static const int PADDING = 8;

static void execute(Run& run, int64_t* values, int width, long step, int column, const Task& task) {
    const int64_t* before = values + ((step + 1) & 1) * width;
    for (int input : task.inputs) run.input(step, input, before[input * PADDING]);
    int64_t value = run.execute(step, column, task, omp_get_thread_num());
    if (!task.inputs.empty() || step == 0) values[(step & 1) * width + column * PADDING] = value;
}

int main() {
    int threads;
    if (std::scanf("%d", &threads) != 1) return 2;
    omp_set_num_threads(threads);
    return serve(threads, [](Run& run) {
        const Graph& graph = run.graph;
        int width = graph.columns * PADDING;
        std::vector<int64_t> memory(2 * width);
        int64_t* values = memory.data();
        Run* r = &run;
#define V(k) in[task->inputs[k] * PADDING]
#pragma omp parallel
#pragma omp single
        for (long step = 0; step < run.steps; step++) {
            int64_t* in = values + ((step + 1) & 1) * width;
            int64_t* out = values + (step & 1) * width;
            for (int column = 0; column < graph.columns; column++) {
                const Task* task = &graph.at(step, column);
                if (task->weight < 0) continue;
                int64_t* o = out + column * PADDING;
                int n = int(task->inputs.size());
                if (n == 0 && step > 0) { // a pattern without dependencies
#pragma omp task firstprivate(step, column, task)
                    execute(*r, values, width, step, column, *task);
                } else if (n == 0) {
#pragma omp task depend(out: o[0]) firstprivate(step, column, task)
                    execute(*r, values, width, step, column, *task);
                } else if (n == 1) {
#pragma omp task depend(in: V(0)) depend(out: o[0]) firstprivate(step, column, task)
                    execute(*r, values, width, step, column, *task);
                } else if (n == 2) {
#pragma omp task depend(in: V(0), V(1)) depend(out: o[0]) firstprivate(step, column, task)
                    execute(*r, values, width, step, column, *task);
                } else if (n == 3) {
#pragma omp task depend(in: V(0), V(1), V(2)) depend(out: o[0]) firstprivate(step, column, task)
                    execute(*r, values, width, step, column, *task);
                } else if (n == 4) {
#pragma omp task depend(in: V(0), V(1), V(2), V(3)) depend(out: o[0]) firstprivate(step, column, task)
                    execute(*r, values, width, step, column, *task);
                } else if (n == 5) {
#pragma omp task depend(in: V(0), V(1), V(2), V(3), V(4)) depend(out: o[0]) firstprivate(step, column, task)
                    execute(*r, values, width, step, column, *task);
                } else {
#pragma omp task depend(iterator(k = 0 : n), in: V(k)) depend(out: o[0]) firstprivate(step, column, task)
                    execute(*r, values, width, step, column, *task);
                }
            }
        }
    });
}
