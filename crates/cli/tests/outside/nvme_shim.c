/* Loaded before the C library (LD_PRELOAD), this makes a process see an NVMe drive at
 * /dev/nvme0: admin commands sent there are answered from files in $SSDLAB_NVME.
 * Only for the tests, which let smartctl and nvme-cli read pages that ssdlab has made. */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct admin_command { /* struct nvme_admin_cmd of linux/nvme_ioctl.h */
	uint8_t opcode, flags;
	uint16_t rsvd1;
	uint32_t nsid, cdw2, cdw3;
	uint64_t metadata, addr;
	uint32_t metadata_len, data_len, cdw[6], timeout_ms, result;
};

static int drive = -1;

static int open_drive(const char *path)
{
	if (strncmp(path, "/dev/nvme0", 10))
		return -1;
	int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
	return drive = real("/dev/null", O_RDWR);
}

#define OPEN(name)                                                   \
	int name(const char *path, int flags, ...)                   \
	{                                                            \
		va_list rest;                                        \
		va_start(rest, flags);                               \
		int mode = va_arg(rest, int);                        \
		va_end(rest);                                        \
		int fd = open_drive(path);                           \
		if (fd >= 0)                                         \
			return fd;                                   \
		int (*real)(const char *, int, ...) = dlsym(RTLD_NEXT, #name); \
		return real(path, flags, mode);                      \
	}
OPEN(open)
OPEN(open64)

/* What a hardened build calls instead. */
int __open_2(const char *path, int flags)
{
	return open(path, flags);
}

int __open64_2(const char *path, int flags)
{
	return open64(path, flags);
}

static int answer(struct admin_command *c)
{
	const char *page = NULL;
	if (c->opcode == 0x06)
		page = (c->cdw[0] & 0xff) == 1 ? "controller" : (c->cdw[0] & 0xff) == 0 ? "namespace" : NULL;
	if (c->opcode == 0x02 && (c->cdw[0] & 0xff) == 2)
		page = "health";
	if (!page)
		return 0x4002; /* invalid field, do not retry */
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", getenv("SSDLAB_NVME"), page);
	FILE *file = fopen(path, "rb");
	if (!file)
		return 0x4006; /* internal error */
	memset((void *)(uintptr_t)c->addr, 0, c->data_len);
	size_t got = fread((void *)(uintptr_t)c->addr, 1, c->data_len, file);
	fclose(file);
	c->result = 0;
	return got ? 0 : 0x4006;
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list rest;
	va_start(rest, request);
	void *argument = va_arg(rest, void *);
	va_end(rest);
	if (fd == drive && fd >= 0) {
		if ((request & 0xffff) == 0x4e40) /* NVME_IOCTL_ID */
			return 1;
		if ((request & 0xffff) == 0x4e41) /* NVME_IOCTL_ADMIN_CMD */
			return answer(argument);
		errno = ENOTTY;
		return -1;
	}
	int (*real)(int, unsigned long, ...) = dlsym(RTLD_NEXT, "ioctl");
	return real(fd, request, argument);
}
