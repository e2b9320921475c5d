"""Makes the files in tensor/src/test/resources/golden/npy: one array each as NumPy writes it.

Run from the root of the repository (made with NumPy 2).
"""
import numpy as np

folder = "tensor/src/test/resources/golden/npy/"
for dtype in ("<f4", ">f4", "<f8", "<f2", "|i1", "<i2", ">i4", "<i8", "|u1", "|b1"):
    name = dtype[1:] + ("_big" if dtype[0] == ">" else "")
    values = (np.arange(24) % 2 if dtype == "|b1" else np.arange(24) - (0 if dtype == "|u1" else 7)).astype(dtype).reshape(2, 3, 4)
    np.save(folder + name + ".npy", values)
    np.save(folder + name + "_fortran.npy", np.asfortranarray(values))
np.save(folder + "scalar.npy", np.float32(2.5))
np.save(folder + "empty.npy", np.zeros((3, 0), np.float32))
np.save(folder + "vector.npy", np.arange(5, dtype=np.int64))
with open(folder + "version2.npy", "wb") as f:
    np.lib.format.write_array(f, np.arange(3, dtype=np.float64), version=(2, 0))
np.savez(folder + "stored.npz", a=np.arange(3, dtype=np.float32), b=np.eye(2))
np.savez_compressed(folder + "deflated.npz", a=np.arange(3, dtype=np.float32), b=np.eye(2))
