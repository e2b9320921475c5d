/*
 * Sums over ranks by MPI, for 'seriatim bench cluster --peers'. Rank 0 prints the version of the library, and answers
 * each line "sum BYTES COUNT" on standard input by the nanoseconds of an all-reduce of float, the least of COUNT.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { IN_A_ROW = 8 }; /* As in RankProcess. */

static double sums(long bytes, long count) {
    int length = (int) (bytes / sizeof(float));
    float *data = calloc(length, sizeof(float));
    double least = 1e30;
    if (!data) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (long i = 0; i < count; i++) {
        double before = MPI_Wtime();
        for (int k = 0; k < IN_A_ROW; k++) {
            MPI_Allreduce(MPI_IN_PLACE, data, length, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        }
        double nanos = (MPI_Wtime() - before) * 1e9 / IN_A_ROW;
        if (nanos < least) {
            least = nanos;
        }
    }
    free(data);
    return least;
}

/* Waits for a command without the spinning of MPI, which would disturb the systems that are measured meanwhile. */
static void receive(long *command) {
    struct timespec pause = {0, 1000000};
    MPI_Request request;
    int done = 0;
    MPI_Ibcast(command, 2, MPI_LONG, 0, MPI_COMM_WORLD, &request);
    for (;;) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done) {
            return;
        }
        nanosleep(&pause, NULL);
    }
}

int main(int argc, char **argv) {
    int rank, length;
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Get_library_version(version, &length);
    if (rank == 0) {
        for (int i = 0; i < length; i++) {
            if (version[i] == '\n' || version[i] == ',') {
                version[i] = 0;
                break;
            }
        }
        printf("%s\n", version);
        fflush(stdout);
    }
    for (;;) {
        long command[2] = {0, 0};
        if (rank == 0 && scanf(" sum %ld %ld", &command[0], &command[1]) != 2) {
            command[1] = 0;
        }
        receive(command);
        if (command[1] == 0) {
            break;
        }
        double own = sums(command[0], command[1]);
        double slowest;
        MPI_Reduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0) {
            printf("%f\n", slowest);
            fflush(stdout);
        }
    }
    MPI_Finalize();
    return 0;
}
