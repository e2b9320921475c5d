"""Packs the cases of a folder as a zip, the same for the same files: pack.py FOLDER ZIP."""
import os
import sys
import zipfile


def main(folder, target):
    with zipfile.ZipFile(target, 'w', zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for case in sorted(os.listdir(folder)):
            for name in sorted(os.listdir(os.path.join(folder, case))):
                with open(os.path.join(folder, case, name), 'rb') as file:
                    packed.writestr(zipfile.ZipInfo(case + '/' + name), file.read(), zipfile.ZIP_DEFLATED)


if __name__ == '__main__':
    main(*sys.argv[1:])
